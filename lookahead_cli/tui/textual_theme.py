"""A theme's colours for the widgets that Textual draws itself."""

from __future__ import annotations

from textual.theme import Theme as TextualTheme

from lookahead_cli.tui.theme import Theme


def textual_theme(theme: Theme) -> TextualTheme:
    """A theme file's colours as Textual's own variables."""
    return TextualTheme(
        name="lookahead",
        primary=theme.accent,
        secondary=theme.bonus,
        accent=theme.accent,
        success=theme.accepted,
        warning=theme.free,
        error=theme.rejected,
        foreground=theme.foreground,
        background=theme.background,
        surface=theme.panel,
        panel=theme.panel,
        dark=theme.dark,
        variables={
            "foreground-muted": theme.muted,
            "footer-background": theme.background,
            "footer-foreground": theme.muted,
            "footer-key-foreground": theme.accent,
            "footer-description-foreground": theme.muted,
        },
    )
