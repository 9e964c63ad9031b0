"""Lookahead decoding in the terminal (Fu et al., arXiv 2402.02057)."""

from __future__ import annotations

__version__ = "0.1.0"
