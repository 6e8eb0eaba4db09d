"""Who is on the team where a home says so: the roster, held sealed, and pulled when somebody asks (AUT-15 … AUT-18)."""
