"""What a person's words ask of the index, and in what order the answers come.

The order is deterministic: score descending, equal scores by key, the same on every call (F28).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import tantivy

from memoria_search.index.languages import LANGUAGES, MARK, mark
from memoria_search.index.query import QueryTerms, Word
from memoria_search.index.schema import MAX_ORDINALS, ORDINAL_BITS
from memoria_search.index.statistics import Statistics

_BOUNDARY = 4  # how much deeper to look while the last place is contested by equal scores
_DEEPEST = 16_384

# Measured on Cranfield and CACM with one setting for both; `docs/search.md` has the numbers and those of neighbouring
# values. The title stands in `body` as well, once, beside its own field.
TITLE_BOOST = 0.5
TRAIL_BOOST = 0.2
EXACT_BOOST = 0.4
LITERAL_BOOST = 1.0
PART_BOOST = 0.4
PHRASE_BOOST = 0.25
PREFIX_BOOST = 1.0
CARRIER_BOOST = 0.3
REPEAT_POWER = 0.7
"""A word typed n times weighs n ** 0.7: BM25's query term frequency, less than linear as with its k3."""

_RERANKED = 128
"""Places at the top within which phrases count."""
_BESIDE = 512  # chunks with a phrase that are looked through for those at the top
_PHRASES = 6
_PHRASE_COST = 3_000
"""Chunks that hold the rarer word of a pair. Commoner pairs are not looked for: reading their positions took 4 ms."""

_Clauses = list[tuple[tantivy.Occur, tantivy.Query]]


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that matched. Scores are comparable within one search only."""

    number: int
    ordinal: int
    score: float


def rank(
    searcher: tantivy.Searcher,
    schema: tantivy.Schema,
    statistics: Statistics,
    terms: QueryTerms,
    limit: int,
    without_apps: Sequence[str] = (),
) -> list[Hit]:
    """The best `limit` chunks. Chunks of `without_apps` are neither scored nor counted against the limit (AUT-06).

    `statistics` are those of the searcher's state of the index.
    """
    if terms.empty:
        return []
    asked = _Asked(statistics, schema, terms)
    clauses = asked.clauses()
    if not clauses:
        return []
    phrases = asked.phrases()
    ranked = _top(searcher, _without(schema, clauses, without_apps), max(limit, _RERANKED) if phrases else limit)
    if phrases and ranked:
        added = _scores(searcher, _without(schema, phrases, without_apps))
        head = ranked[:_RERANKED]
        ranked[:_RERANKED] = sorted((-_score(added.get(key, 0.0) - minus), key) for minus, key in head)
    return [Hit(key >> ORDINAL_BITS, key & (MAX_ORDINALS - 1), -minus) for minus, key in ranked[:limit]]


def _top(searcher: tantivy.Searcher, query: tantivy.Query, limit: int) -> list[tuple[float, int]]:
    """The best `limit` as (minus score, key), in order."""
    depth = limit
    while True:
        found = searcher.search(query, limit=depth + 1, count=False).hits
        contested = len(found) > limit and _score(found[limit - 1][0]) == _score(found[-1][0])
        if not contested or len(found) <= depth or depth >= _DEEPEST:
            break
        depth *= _BOUNDARY  # the engine cuts equal scores by segment; look on until the tie is whole
    keys = searcher.fast_field_values("key", [address for _, address in found])
    return sorted((-_score(score), int(key or 0)) for (score, _), key in zip(found, keys, strict=True))[:limit]


def _scores(searcher: tantivy.Searcher, query: tantivy.Query) -> dict[int, float]:
    """The scores of the best _BESIDE keys; fewer where a tie would be cut, for the engine cuts one by segment."""
    found = searcher.search(query, limit=_BESIDE, count=False).hits
    if len(found) == _BESIDE:
        found = [hit for hit in found if hit[0] > found[-1][0]]
    keys = searcher.fast_field_values("key", [address for _, address in found])
    return {int(key or 0): score for (score, _), key in zip(found, keys, strict=True)}


def _without(schema: tantivy.Schema, clauses: _Clauses, apps: Sequence[str]) -> tantivy.Query:
    if not apps:
        return tantivy.Query.boolean_query(clauses)
    not_these = [(tantivy.Occur.MustNot, tantivy.Query.term_query(schema, "app", app, "basic")) for app in apps]
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, tantivy.Query.boolean_query(clauses)), *not_these])


class _Asked:
    """One query against one state of the index: only terms that are in it become clauses.

    A word asks for its stem in every language, of which an index holds few. Looking one up takes 0.6 µs; a clause for a
    term that is not there costs more.
    """

    def __init__(self, statistics: Statistics, schema: tantivy.Schema, terms: QueryTerms) -> None:
        self._statistics = statistics
        self._frequency = statistics.frequency
        self._schema = schema
        self._terms = terms
        self._spoken = [MARK + code for code in LANGUAGES if statistics.frequency("exact", mark(code))]
        self._held = [self._stems(word.body) for word in terms.words]

    def _stems(self, terms: Iterable[str]) -> dict[str, int]:
        """The terms in languages that the index has, and in how many chunks' bodies each is."""
        held = [term for term in terms if MARK not in term]
        if self._spoken:
            held += [term for term in terms if term.endswith(tuple(self._spoken))]
        return {term: self._frequency("body", term) for term in held}

    def clauses(self) -> _Clauses:
        """What a chunk must have one of."""
        made = [
            query for word, held in zip(self._terms.words, self._held, strict=True) for query in self._of(word, held)
        ]
        if self._terms.prefix:
            made += self._begun(self._terms.prefix)
        return [(tantivy.Occur.Should, query) for query in made]

    def _of(self, word: Word, held: dict[str, int]) -> Iterator[tantivy.Query]:
        weight = word.pieces * word.times**REPEAT_POWER * (CARRIER_BOOST if word.carrier else 1.0)
        rarity = self._statistics.rarity
        for terms, share in ((held, weight), (self._stems(word.parts), weight * PART_BOOST)):
            commonest = max(terms.values(), default=0)
            for term, count in terms.items():
                # One word in two languages is one word: the language with fewer chunks must not make it a rarer one.
                fair = share if count in (0, commonest) else share * rarity(commonest) / rarity(count)
                if count:  # what stands in a title stands in a body
                    # A form that is its own stem is no exact term as well, so the body's count stands for both.
                    yield self._term("body", term, fair * (1 + EXACT_BOOST) if term in word.exact else fair)
                    if self._frequency("title", term):
                        yield self._term("title", term, fair * TITLE_BOOST)
                if self._frequency("trail", term):
                    yield self._term("trail", term, fair * TRAIL_BOOST)
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

    def phrases(self) -> _Clauses:
        """Pairs of words that stand beside each other in the query, where they do so in a chunk."""
        made: _Clauses = []
        for one, other in self._terms.pairs:
            held = self._held[other]
            for term, count in self._held[one].items():
                language = term.partition(MARK)[2]
                mate = next((each for each in held if each.partition(MARK)[2] == language), None)
                if mate is None or mate == term or min(count, held[mate]) > _PHRASE_COST or len(made) == _PHRASES:
                    continue
                pair = tantivy.Query.phrase_query(self._schema, "body", [term, mate])
                weight = PHRASE_BOOST * self._statistics.correction("body", term, mate)
                made.append((tantivy.Occur.Should, tantivy.Query.boost_query(pair, weight)))
        return made

    def _term(self, field: str, term: str, boost: float) -> tantivy.Query:
        boost *= self._statistics.correction(field, term)
        query = tantivy.Query.term_query(self._schema, field, term, "freq")
        return query if boost == 1.0 else tantivy.Query.boost_query(query, boost)


def _score(score: float) -> float:
    """A score without its last bits, which depend on the order in which an engine adds up equal parts."""
    return float(f"{score:.5g}")
