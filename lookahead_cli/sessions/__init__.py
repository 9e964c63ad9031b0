"""Conversations that are kept: messages, figures and traces in one SQLite file."""
