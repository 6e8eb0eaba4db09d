"""Rotation of the tokens that sibling apps know memoria by (CON-17)."""
