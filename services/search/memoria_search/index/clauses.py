"""What each word of a query asks of one state of the index: only terms that are in it become clauses.

What a word comes to is remembered as long as nothing is committed, because looking its terms up takes longer than
searching for them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import tantivy

from memoria_search.index.languages import ENGLISH, LANGUAGES, MARK, mark
from memoria_search.index.query import QueryTerms, Word
from memoria_search.index.statistics import Statistics

# Measured on Cranfield and CACM with one setting for both; `docs/search.md` has the numbers and those of neighbouring
# values. The title stands in `body` as well, once, beside its own field.
TITLE_BOOST = 0.5
TRAIL_BOOST = 0.2
EXACT_BOOST = 0.4
LITERAL_BOOST = 1.0
PART_BOOST = 0.4
PHRASE_BOOST = 0.1
PREFIX_BOOST = 1.0
CARRIER_BOOST = 0.3
REPEAT_POWER = 0.7
"""A word typed n times weighs n ** 0.7: BM25's query term frequency, less than linear as with its k3."""

_PHRASES = 6
_PHRASE_COST = 2_000
"""Chunks that hold the rarer word of a pair, added up over a query. Pairs that would come to more are not looked for:
reading the positions of common words took 4 ms."""
_REMEMBERED = 20_000  # words, about 20 MB

Clauses = list[tuple[tantivy.Occur, tantivy.Query]]


@dataclass(frozen=True, slots=True)
class Planned:
    """One word: the body terms of it that the index holds, by language, each with its count; and its clauses."""

    held: dict[str, tuple[str, int]]
    clauses: Clauses


class Planner:
    """Makes clauses for one state of the index. Holds words of queries, so it lives and dies with the index handle."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self._statistics = Statistics(searcher, schema)
        self._frequency = self._statistics.frequency
        self._schema = schema
        self.languages = tuple(code for code in LANGUAGES if code == ENGLISH or self._frequency("exact", mark(code)))
        """What a query need be asked in: the languages that the index holds texts in, English first."""
        # English trails bear no mark. Few languages have any, and all terms of a word would be looked up in them.
        self._trailed = tuple(mark(code) for code in LANGUAGES if self._frequency("trail", mark(code)))
        self._planned: dict[Word, Planned] = {}

    @property
    def statistics(self) -> Statistics:
        """The counts of this state."""
        return self._statistics

    def clauses(self, terms: QueryTerms) -> Clauses:
        """What a chunk must have one of."""
        made = [clause for word in terms.words for clause in self._plan(word).clauses]
        return made + [(tantivy.Occur.Should, query) for query in self._begun(terms.prefix)] if terms.prefix else made

    def phrases(self, terms: QueryTerms) -> Clauses:
        """Pairs of words that stand beside each other in the query, where they do so in a chunk."""
        made: Clauses = []
        left = _PHRASE_COST
        for one, other in terms.pairs:
            mates = self._plan(terms.words[other]).held
            for language, (term, count) in self._plan(terms.words[one]).held.items():
                mate, others = mates.get(language, (term, 0))
                rarer = min(count, others)
                if mate == term or rarer > left or len(made) == _PHRASES:
                    continue
                left -= rarer
                pair = tantivy.Query.phrase_query(self._schema, "body", [term, mate])
                weight = PHRASE_BOOST * self._statistics.correction("body", term, mate)
                made.append((tantivy.Occur.Should, tantivy.Query.boost_query(pair, weight)))
        return made

    def _plan(self, word: Word) -> Planned:
        planned = self._planned.get(word)
        if planned is None:
            held = self._stems(word.body)
            by_language: dict[str, tuple[str, int]] = {}
            for term, count in held.items():
                by_language.setdefault(term.partition(MARK)[2], (term, count))
            clauses = [(tantivy.Occur.Should, query) for query in self._of(word, held)]
            planned = Planned(by_language, clauses)
            if len(self._planned) < _REMEMBERED:
                self._planned[word] = planned
        return planned

    def _stems(self, terms: Iterable[str]) -> dict[str, int]:
        """The terms that the index holds, and in how many chunks' bodies each is."""
        held = {}
        for term in terms:
            if count := self._frequency("body", term):
                held[term] = count
        return held

    def _of(self, word: Word, held: dict[str, int]) -> Iterator[tantivy.Query]:
        weight = word.pieces * word.times**REPEAT_POWER * (CARRIER_BOOST if word.carrier else 1.0)
        rarity = self._statistics.rarity
        for terms, share in ((held, weight), (self._stems(word.parts), weight * PART_BOOST)):
            commonest = max(terms.values(), default=0)
            for term, count in terms.items():
                # One word in two languages is one word: the language with fewer chunks must not make it a rarer one.
                fair = share if count == commonest else share * rarity(commonest) / rarity(count)
                # A form that is its own stem is no exact term as well, so the body's count stands for both.
                yield self._term("body", term, fair * (1 + EXACT_BOOST) if term in word.exact else fair)
                if self._frequency("title", term):
                    yield self._term("title", term, fair * TITLE_BOOST)
        for term in word.body:  # a trail is not in the body
            if (MARK not in term or term.endswith(self._trailed)) and self._frequency("trail", term):
                yield self._term("trail", term, weight * TRAIL_BOOST)
        for forms, boost in ((word.exact, EXACT_BOOST), (word.literal, LITERAL_BOOST)):
            for form in forms:
                if self._frequency("exact", form):
                    yield self._term("exact", form, boost * weight)

    def _begun(self, prefix: str) -> Iterator[tantivy.Query]:
        """Words that begin so, all alike: which of them are common must not be told by what a person may not see."""
        begun = [
            (tantivy.Occur.Should, tantivy.Query.fuzzy_term_query(self._schema, field, prefix, 0, prefix=True))
            for field in ("body", "exact")
        ]
        yield tantivy.Query.const_score_query(tantivy.Query.boolean_query(begun), PREFIX_BOOST)

    def _term(self, field: str, term: str, boost: float) -> tantivy.Query:
        boost *= self._statistics.correction(field, term)
        query = tantivy.Query.term_query(self._schema, field, term, "freq")
        return query if boost == 1.0 else tantivy.Query.boost_query(query, boost)
