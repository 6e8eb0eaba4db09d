"""Whether an admitted address is of a domain that vouches for its mail (AUT-21). Off unless configured."""
