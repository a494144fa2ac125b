"""What users see of results and progress: figures, tables of notebooks, progress bars."""
