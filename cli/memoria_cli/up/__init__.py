"""`memoria up`: one machine, one team, every process."""
