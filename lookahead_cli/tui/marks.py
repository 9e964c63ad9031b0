"""Glyphs that carry a meaning, so that none hangs on a colour alone."""

from __future__ import annotations

MATCHED, REJECTED, UNREACHED = "✓", "✗", "·"
"""A guess that the model confirmed, one that it did not, one that was not reached."""

TURNED_OUT = "○"
"""A guess that its step did not use, and that the text has at its place all the same."""

FREE = "★"
"""A token that was guessed right and cost no step of its own."""

NEW, KNOWN, GONE = "▾", "↻", "−"
"""An n-gram that the pool did not hold before, one that it did, one that made room."""

PLAYING, PAUSED, PAST, DONE = "►", "‖", "◄", "■"

BARS = "▁▂▃▄▅▆▇█"
