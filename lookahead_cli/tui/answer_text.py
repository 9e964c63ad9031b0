"""The text of an answer while it comes, read off its steps."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.token_text import screen_text, text_of


def text_so_far(view: RunView) -> str:
    """The output as it reads; the footer brings the tokenizer's own text."""
    footer = view.footer
    if footer is not None:
        return screen_text(footer.text)
    steps = view.steps
    tokens = (view.tokens[token] for step in steps for token in step.token_ids)
    # A character whose bytes are still coming reads as � and is held back.
    return screen_text(text_of(tokens, steps[-1].overrun)).rstrip("\ufffd")


def tokens_so_far(view: RunView, begun: str, colours: tuple[Style, Style]) -> Text:
    """The output's tokens behind the text that was there before; those of one step have one colour."""
    text = Text(begun)
    for index, step in enumerate(view.steps):
        said = text_of((view.tokens[token] for token in step.token_ids), step.overrun)
        text.append(screen_text(said), colours[index % 2])
    return text
