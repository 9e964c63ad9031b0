def factorial(n):
    if n < 2:
        return 1
