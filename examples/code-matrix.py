class Matrix:
    """A small matrix of numbers, stored row by row."""

    def __init__(self, rows: list[list[float]]) -> None:
        self.rows = rows

    def __add__(self, other: "Matrix") -> "Matrix":
        """Return the sum of two matrices of the same size."""
        result = []
        for left, right in zip(self.rows, other.rows):
            result.append([a + b for a, b in zip(left, right)])
        return Matrix(result)

    def __sub__(self, other: "Matrix") -> "Matrix":
        """Return the difference of two matrices of the same size."""
        result = []