"""Siblings with one seeded fault each: what the suite must catch, and the proof that it can."""

from memoria_conformance.mutants import (
    aggregate,
    announce,
    ask,
    ask_calls,
    content,
    describe,
    doors,
    feed,
    functions,
    rights,
    transport,
)
from memoria_conformance.mutants.build import Mutant

MUTANTS: tuple[Mutant, ...] = (
    *describe.MUTANTS,
    *transport.MUTANTS,
    *doors.MUTANTS,
    *feed.MUTANTS,
    *announce.MUTANTS,
    *ask.MUTANTS,
    *ask_calls.MUTANTS,
    *rights.MUTANTS,
    *content.MUTANTS,
    *aggregate.MUTANTS,
    *functions.MUTANTS,
)
"""Every mutant, by the call it is wrong about."""
