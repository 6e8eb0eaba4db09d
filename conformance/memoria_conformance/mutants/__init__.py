"""Siblings with one seeded fault each: what the suite must catch, and the proof that it can."""

from memoria_conformance.mutants import aggregate, announce, ask, ask_calls, content, feed, transport
from memoria_conformance.mutants.build import Mutant

MUTANTS: tuple[Mutant, ...] = (
    *transport.MUTANTS,
    *feed.MUTANTS,
    *announce.MUTANTS,
    *ask.MUTANTS,
    *ask_calls.MUTANTS,
    *content.MUTANTS,
    *aggregate.MUTANTS,
)
"""Every mutant, by the call it is wrong about."""
