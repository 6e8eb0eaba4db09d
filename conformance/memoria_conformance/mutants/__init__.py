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

BY_CALL: tuple[tuple[tuple[str, ...], tuple[Mutant, ...]], ...] = (
    (("Describe",), describe.MUTANTS),
    (("transport",), (*transport.MUTANTS, *doors.MUTANTS)),
    (("S1",), feed.MUTANTS),
    (("S1a",), announce.MUTANTS),
    (("S2", "S6"), (*ask.MUTANTS, *ask_calls.MUTANTS, *rights.MUTANTS)),
    (("S3",), content.MUTANTS),
    (("S6",), (*aggregate.MUTANTS, *functions.MUTANTS)),
)
"""(the calls whose cases should catch them, the mutants)."""

MUTANTS: tuple[Mutant, ...] = tuple(mutant for _, mutants in BY_CALL for mutant in mutants)
"""Every mutant."""
