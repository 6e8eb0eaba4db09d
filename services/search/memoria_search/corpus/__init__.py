"""The corpus at rest: documents and chunks in SQLite, every column that says something sealed."""
