"""How words are found: one analyser, and the segment readers that a query goes to."""
