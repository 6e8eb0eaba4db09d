"""A report in the forms it is read in: text, JUnit, JSON, HTML and a badge. Each is a pure function to a string."""
