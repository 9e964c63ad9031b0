import re


def count_words(text: str) -> dict[str, int]:
    """Count how often each word occurs in `text`.

    Words are compared in lower case, and everything that is not a letter separates words.
    """
    counts = {}
    for word in re.findall("[a-z]+", text.lower()):