"""Tests of the sessions on disk."""
