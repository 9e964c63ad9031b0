"""Lookahead parallelism (section 3.4 of the paper): every rank has the whole model and a part of the tree."""
