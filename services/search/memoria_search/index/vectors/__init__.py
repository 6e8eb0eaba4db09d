"""Vectors: what an embedder makes of a chunk, kept as int8 and scored by brute force."""
