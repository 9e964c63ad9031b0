import csv


def read_rows(path):
    """Rows of a CSV file as dictionaries."""
    with open(path, newline="") as stream:
