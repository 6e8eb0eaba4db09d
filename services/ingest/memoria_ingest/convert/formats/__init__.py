"""One file a format. Each has `convert(data, kind) -> Converted` and is imported in the sandboxed child only."""
