"""Glyphs that carry a meaning, so that none hangs on a colour alone."""

from __future__ import annotations

MATCHED, REJECTED, UNREACHED = "✓", "✗", "·"
"""A guess that the model confirmed, one that it did not, one that was not reached."""

FREE = "★"
"""A token that was guessed right and cost no step of its own."""

NEW, KNOWN, GONE = "▾", "↻", "−"
"""An n-gram that the pool did not hold before, one that it did, one that made room."""

PLAYING, PAUSED, PAST, DONE = "►", "‖", "◄", "■"

BARS = "▁▂▃▄▅▆▇█"
