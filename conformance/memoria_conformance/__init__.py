"""Reference sibling apps and a home for memoria, over the papers of one made-up company."""
