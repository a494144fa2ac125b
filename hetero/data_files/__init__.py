"""Columns of numbers in files: CSV and other text, JSON, Excel, Parquet, NPY and NPZ."""

from hetero.data_files.dates import sort_by_date as sort_by_date
from hetero.data_files.reading import Column as Column
from hetero.data_files.reading import Table as Table
from hetero.data_files.reading import find_present as find_present
from hetero.data_files.reading import open_table as open_table
from hetero.data_files.writing import check_output as check_output
from hetero.data_files.writing import write_columns as write_columns
