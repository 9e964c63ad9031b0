"""Tests of lookahead, laid out as the package is."""
