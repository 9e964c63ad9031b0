"""`lookahead tour`: a guided lesson on recorded runs that ship with the package."""
