"""Columns of numbers in files: CSV and other text, Parquet, NPY and NPZ."""

from hetero.data_files.reading import Column as Column
from hetero.data_files.reading import drop_missing as drop_missing
from hetero.data_files.reading import read_columns as read_columns
from hetero.data_files.writing import check_output as check_output
from hetero.data_files.writing import write_columns as write_columns
