"""Who may see this? Asked of the sibling that owns it, on every request, never cached (AUT-02)."""
