"""Pulling from siblings: the change feed (S1), the re-announce (S1a), content (S3)."""
