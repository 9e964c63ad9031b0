def fibonacci(count: int) -> list[int]:
    """Return the first `count` Fibonacci numbers.

    The sequence starts with 0 and 1, and every later number is the sum of the two before it.
    """
    numbers = [0, 1]
    while len(numbers) < count: