"""Anomalies of siblings: what is counted of their answers, and the three breakers over the counts (RET-09 … 16).

A breaker tells the owner; it purges nothing and answers for nobody.
"""
