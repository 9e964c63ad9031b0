"""A conversation with a model: what is fed again, what is kept, and what was said."""
