"""Runs as streams of events, and on disk; never needs torch."""
