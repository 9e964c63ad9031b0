"""`python -m lookahead_cli` is the same as `lookahead`."""

from lookahead_cli.cli import main

if __name__ == "__main__":
    main()
