"""`lookahead themes`: the colours to choose from, shown on a line of every role."""


def themes() -> None:
    """X."""
