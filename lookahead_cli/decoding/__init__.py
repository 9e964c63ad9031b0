"""The algorithm: window, pool, token tree, verification, stopping, proposers and the loop."""
