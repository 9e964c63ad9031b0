def is_palindrome(text):
    """True when the letters read the same backwards."""
