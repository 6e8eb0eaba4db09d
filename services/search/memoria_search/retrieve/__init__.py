"""From a person's words to candidates: ranked, and not yet anything that may be spoken."""
