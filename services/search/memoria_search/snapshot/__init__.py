"""Snapshots: the index's files sealed in the bucket, and the one instance that may write there."""
