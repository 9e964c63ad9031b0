def gcd(a, b):
    """The greatest common divisor, by Euclid."""
    while b:
