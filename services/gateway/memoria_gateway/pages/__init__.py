"""The pages, one file a surface."""
