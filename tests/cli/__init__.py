"""Tests of the commands, run through the real command line."""
