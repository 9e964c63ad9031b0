"""The race: the same prompt by several methods, measured one after another and played side by side."""
