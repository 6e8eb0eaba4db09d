"""From a file's bytes to text. Parsers of somebody else's bytes run in a sandboxed child, never in this process."""
