"""Signing in by the estate's home, where the shape is the lone one (AUT-22 … AUT-29)."""
