"""Measuring: what `bench` and `compare` run, how it is timed, and how the figures are shown."""
