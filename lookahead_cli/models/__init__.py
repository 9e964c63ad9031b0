"""Models: aliases, sources, loading, and running token trees through them."""
