"""Tests of conversations."""
