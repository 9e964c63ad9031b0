def binary_search(numbers: list[int], wanted: int) -> int:
    """Return the index of `wanted` in the sorted list `numbers`, or -1 when it is not there.

    Each comparison halves the part that is left, so a million numbers take twenty comparisons.
    """
    low = 0
    high = len(numbers) - 1
    while low <= high:
        middle = (low + high) // 2