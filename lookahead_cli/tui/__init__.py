"""Screens, panels and themes; never needs torch."""
