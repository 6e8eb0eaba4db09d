"""Sibling apps by other roads than ours, which must conform for the suite to be believed."""
