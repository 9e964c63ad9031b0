def average(values):
    """The mean of a list of numbers."""
