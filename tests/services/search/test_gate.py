"""The gate: what is refused, what is withheld, what is said about it, and only then what is spoken."""

import asyncio
from typing import Any

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.corpus.model import SourceState
from memoria_search.gate import Passage, SpokenDocument, State, window
from memoria_search.notices import Notice, NoticeKind
from memoria_search.ruling import (
    NO_ANSWER,
    OMIT,
    SPEAK,
    Cause,
    Claim,
    Disposition,
    OwnedClaim,
    ProbeClaim,
    Ruling,
    SiblingClaim,
)

STALE = Ruling(Disposition.WITHHOLD, Cause.STALE)
AHEAD = Ruling(Disposition.WITHHOLD, Cause.AHEAD)
House = Any  # tests/services/search/conftest.py


def test_nobody_else_can_make_a_passage() -> None:
    """A passage without the gate's own mint is a TypeError, whatever is offered for it."""
    with pytest.raises(TypeError):
        Passage(object(), rank=1, app="docs", document_id="x", ordinal=0, state=State.SPOKEN, text="secret")
    with pytest.raises(TypeError):
        SpokenDocument(None, None, None, (), ())  # type: ignore[arg-type]  # refused before any of it is looked at


def test_a_ruling_without_sense_cannot_be_made() -> None:
    """A cause beside SPEAK or OMIT, or a WITHHOLD without one, is no ruling."""
    for disposition, cause in [
        (Disposition.SPEAK, Cause.STALE),
        (Disposition.OMIT, Cause.NO_ANSWER),
        (Disposition.WITHHOLD, None),
    ]:
        with pytest.raises(ValueError):
            Ruling(disposition, cause)


async def test_not_visible_leaves_no_trace(house: House) -> None:
    """The reply with a refused document equals, whole, the reply of a house that never held it (AUT-01, F05).

    Broken to see it red: a notice with the count of what was omitted; ranks counted before the ruling; `more` from the
    number of candidates.
    """
    await house.item("open", "budget for everyone")
    without = await house.search("budget")
    await house.item("hidden", "budget budget budget", app="sheets")
    assert len((await house.search("budget")).rows) == 2
    house.arbiter.rulings["hidden"] = OMIT
    assert await house.search("budget") == without


@pytest.mark.parametrize(
    ("ruling", "kind"),
    [(NO_ANSWER, NoticeKind.NO_ANSWER), (STALE, NoticeKind.STALE), (AHEAD, NoticeKind.RECONCILING)],
)
async def test_withheld_is_said_with_app_and_count(house: House, ruling: Ruling, kind: NoticeKind) -> None:
    """Each cause has its line, and the passage is not among the rows (RET-06)."""
    await house.item("a", "budget\n\nbudget again", app="sheets")
    await house.item("b", "budget", app="docs")
    assert len((await house.search("budget")).rows) == 3
    house.arbiter.rulings["a"] = ruling
    found = await house.search("budget")
    assert [row.passage.app for row in found.rows] == ["docs"]
    assert found.page.notices == (Notice("sheets", kind, 2),)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda rulings: rulings[:-1],
        lambda rulings: [*rulings, SPEAK],
        lambda rulings: [],
    ],
)
async def test_an_answer_that_does_not_fit_withholds_everything(house: House, spoil: Any) -> None:
    """One ruling too few, one too many, none: nothing of the answer is relied on.

    Broken to see it red: zip without strict in place of the comparison of lengths.
    """
    await house.item("a", "budget", app="sheets")
    await house.upload("budget of files")
    assert len((await house.search("budget")).rows) == 2
    house.arbiter.spoil = spoil
    found = await house.search("budget")
    assert found.rows == ()
    assert found.page.notices == (
        Notice("files", NoticeKind.NO_ANSWER, 1),
        Notice("sheets", NoticeKind.NO_ANSWER, 1),
    )


@pytest.mark.parametrize(
    "failure",
    [
        ServiceError(Kind.UNAVAILABLE, "x"),
        ServiceError(Kind.DEADLINE, "x"),
        ServiceError(Kind.INTERNAL, "x"),
        TimeoutError(),
    ],
)
async def test_no_answer_from_authz_is_no_empty_result(house: House, failure: Exception) -> None:
    """authz gone or late: every candidate is withheld by app, owned ones too; never "nothing matched" (F29)."""
    await house.item("a", "budget", app="sheets")
    await house.upload("budget of files")

    def fail(_: object) -> Any:
        raise failure

    house.arbiter.spoil = fail
    found = await house.search("budget")
    assert found.rows == ()
    assert [(line.app, line.count) for line in found.page.notices] == [("files", 1), ("sheets", 1)]


async def test_one_round_a_request_and_one_claim_a_document(house: House) -> None:
    """Many chunks of one document make one claim, at the revision held; the subject is the asker's (RET-01)."""
    ref = await house.item("a", "budget\n\nbudget two\n\nbudget three", revision="rev-7")
    owned = await house.upload("budget of files")
    await house.search("budget")
    [claims] = house.arbiter.asked
    assert set(claims) == {SiblingClaim("docs", ref.item_id, "rev-7"), OwnedClaim(owned.document_id, True)}
    assert house.arbiter.subjects[0].value == "ann@example.test"


async def test_nothing_is_remembered_between_requests(house: House) -> None:
    """Revoked between two equal searches: gone at the second, back at the third (AUT-02, F01).

    Broken to see it red: rulings kept in a dictionary of the gate.
    """
    await house.item("a")
    assert len(await house.ids("budget")) == 1
    house.arbiter.rulings["a"] = OMIT
    assert await house.ids("budget") == []
    house.arbiter.rulings["a"] = SPEAK
    assert len(await house.ids("budget")) == 1


async def test_a_revision_replaced_while_authz_was_asked_is_not_spoken(house: House) -> None:
    """The ruling was about the old text; the new one was not ruled, the old one is gone: neither is shown (RUL-01), and
    that one is held back is said.

    Broken to see it red: opening chunks by document id instead of by the number of the revision ruled; what was
    replaced dropped like what was deleted.
    """
    await house.item("a", "budget old")
    inner = house.arbiter.rule

    async def slow(subject: Any, claims: Any) -> Any:
        await house.item("a", "budget new and secret", revision="2")
        return await inner(subject, claims)

    house.arbiter.rule = slow
    found = await house.search("budget")
    assert found.rows == ()
    assert found.page.notices == (Notice("docs", NoticeKind.STALE, count=1),)
    house.arbiter.rule = inner
    assert (await house.search("budget")).rows[0].passage.text == "budget new and secret"


async def test_a_document_replaced_while_authz_was_asked_is_withheld(house: House) -> None:
    """And one that was deleted meanwhile is not found. Broken to see it red: not found for both."""
    ref = await house.item("a", "budget old")
    inner, meanwhile = (
        house.arbiter.rule,
        [house.item("a", "budget new", revision="2"), house.library.retire("docs", "a")],
    )

    async def slow(subject: Any, claims: Any) -> Any:
        await meanwhile.pop(0)
        return await inner(subject, claims)

    house.arbiter.rule = slow
    assert await house.document(ref.document_id) == Notice("docs", NoticeKind.STALE, count=1)
    with pytest.raises(ServiceError, match="no such document"):
        await house.document(ref.document_id)


async def test_a_reconciling_source_is_named_and_takes_no_part(house: House) -> None:
    """Not ranked, not asked about, one line; alone it still leaves no "nothing matched" (AUT-06, G27)."""
    await house.item("a", app="sheets")
    await house.item("b", app="docs")
    await house.source("sheets", SourceState.RECONCILING)
    found = await house.search("budget")
    assert [row.passage.app for row in found.rows] == ["docs"]
    assert found.page.notices == (Notice("sheets", NoticeKind.RECONCILING),)
    assert {claim.app for claim in house.arbiter.asked[-1]} == {"docs"}
    await house.source("sheets", SourceState.AS_OF)
    found = await house.search("budget")
    assert len(found.rows) == 2
    assert found.page.notices == (Notice("sheets", NoticeKind.AS_OF),)


async def test_a_source_that_comes_back_while_a_search_runs_was_left_out_all_the_same(house: House) -> None:
    """Reconciling when it was ranked, current when the page is put together: the line stands, for its papers are not on
    the page. Otherwise that page would say that nothing matched.

    Broken to see it red: only how the sources stand in the end is said.
    """
    await house.item("a", app="sheets")
    await house.source("sheets", SourceState.RECONCILING)
    inner = house.arbiter.rule

    async def slow(subject: Any, claims: Any) -> Any:
        await house.source("sheets", SourceState.CURRENT)
        return await inner(subject, claims)

    house.arbiter.rule = slow
    found = await house.search("budget")
    assert found.rows == ()
    assert found.page.notices == (Notice("sheets", NoticeKind.RECONCILING),)
    house.arbiter.rule = inner
    found = await house.search("budget")
    assert len(found.rows) == 1
    assert found.page.notices == ()


async def test_a_source_that_falls_back_while_a_search_runs_is_named(house: House) -> None:
    """Current when it was ranked: what it says counts, and that it fell back since is said. Broken to see it red: only
    how the sources stood at first is said."""
    await house.item("a", app="sheets")
    inner = house.arbiter.rule

    async def slow(subject: Any, claims: Any) -> Any:
        await house.source("sheets", SourceState.AS_OF)
        return await inner(subject, claims)

    house.arbiter.rule = slow
    found = await house.search("budget")
    assert len(found.rows) == 1
    assert found.page.notices == (Notice("sheets", NoticeKind.AS_OF),)


async def fill(house: House, count: int) -> list[str]:
    """`count` items that match "budget", in rank order; their item ids."""
    refs = await asyncio.gather(*(house.item(f"i{at}", "the same budget words") for at in range(count)))
    return [ref.item_id for ref in sorted(refs, key=lambda ref: ref.number)]


async def test_a_page_is_filled_with_what_may_be_spoken(house: House) -> None:
    """Every second one is refused: the pages are full, ranks have no gaps, and no row comes twice (AMD-05, F28)."""
    items = await fill(house, 130)
    house.arbiter.rulings |= dict.fromkeys(items[::2], OMIT)
    pages = [await house.search("budget", page) for page in (1, 2)]
    assert [len(found.rows) for found in pages] == [50, 15]
    assert [found.page.more for found in pages] == [True, False]
    rows = [row.passage for found in pages for row in found.rows]
    assert [row.rank for row in rows] == list(range(1, 66))
    assert len({row.document_id for row in rows}) == 65


async def test_three_pages_of_equal_scores_are_distinct(house: House) -> None:
    """130 equal chunks over pages of 50 are 130 rows (F28)."""
    await fill(house, 130)
    rows = [await house.ids("budget", page) for page in (1, 2, 3)]
    assert [len(page) for page in rows] == [50, 50, 30]
    assert len({row for page in rows for row in page}) == 130


async def test_notices_count_what_ranks_above_the_last_row_shown(house: House) -> None:
    """Withheld below a full page is not counted; on a page that is not full, all of the window is (AMD-05).

    Broken to see it red: counting the window on every page.
    """
    items = await fill(house, 20)
    house.arbiter.rulings |= dict.fromkeys([items[1], items[3], items[15]], STALE)
    full = await house.search("budget", size=5)
    assert [row.passage.rank for row in full.rows] == [1, 2, 3, 4, 5]
    assert full.page.notices == (Notice("docs", NoticeKind.STALE, 2),)
    assert full.page.more
    short = await house.search("budget", size=50)
    assert len(short.rows) == 17
    assert short.page.notices == (Notice("docs", NoticeKind.STALE, 3),)
    exact = await house.search("budget", size=17)
    assert (len(exact.rows), exact.page.more) == (17, False)  # nothing behind a last page that happens to be full


async def test_paging_ends_at_the_bound_whatever_matches(house: House) -> None:
    """Past 1,024 candidates the page says to refine, without a search and without a question (AMD-05)."""
    assert [window(page, 50) for page in (1, 2, 4, 20, 21)] == [256, 512, 1024, 1024, 0]
    assert [window(page, 32) for page in (32, 33)] == [1024, 0]  # the 1,024th itself is within the bound
    await house.item("a")
    for query in ("budget", "nothingmatches"):
        found = await house.search(query, 21)
        assert (found.rows, found.page.more, found.page.refine) == ((), False, True)
    assert house.arbiter.asked == []


async def test_the_last_page_of_the_bound_says_to_refine(house: House) -> None:
    """More may be spoken than paging reaches: no next page is offered, which would be empty (AMD-05).

    Broken to see red: `more` set past the bound.
    """
    await house.item("a", "\n\n".join(["budget"] * 1010))
    before, last = await house.search("budget", 19), await house.search("budget", 20)
    assert (len(before.rows), before.page.more, before.page.refine) == (50, True, False)
    assert (len(last.rows), last.page.more, last.page.refine) == (50, False, True)


async def test_hidden_matches_set_neither_more_nor_refine(house: House) -> None:
    """`more` and `refine` follow from what may be spoken: sixty hidden matches set neither."""
    items = await fill(house, 60)
    assert (await house.search("budget")).page.more
    assert not (await house.search("budget", 20)).page.refine
    house.arbiter.rulings |= dict.fromkeys(items, OMIT)
    for page in (1, 20):
        found = await house.search("budget", page)
        assert (found.page.more, found.page.refine, found.page.notices) == (False, False, ())


async def test_an_unreadable_text_leaves_its_row_marked(house: House) -> None:
    """A chunk that does not open after its ruling is listed as unavailable, with no text (ING-05)."""
    await house.item("a", "budget secret")
    await house.database.write(lambda db: db.execute("UPDATE chunks SET text = zeroblob(64)"))
    [row] = (await house.search("budget")).rows
    assert row.passage.state is State.UNAVAILABLE
    assert row.passage.title == "A title"
    assert (row.passage.text, row.snippet) == ("", ())


async def test_a_refused_document_is_an_absent_one(house: House) -> None:
    """The same kind and sentence for hidden, for never held, for deleted; each took one question (F03)."""
    hidden, gone = await house.item("a"), await house.upload("budget")
    assert isinstance(await house.document(hidden.document_id), SpokenDocument)
    house.arbiter.rulings["a"] = OMIT
    await house.library.delete(gone.document_id)
    # authz says OMIT about what is not present: the second fact is false
    absent = [gone.document_id, "a" * 26, "", "\x00", "x" * 10_000]
    house.arbiter.rulings |= dict.fromkeys(absent, OMIT)
    house.arbiter.asked.clear()
    said = set()
    for document_id in [hidden.document_id, *absent]:
        with pytest.raises(ServiceError) as refused:
            await house.document(document_id)
        said.add((refused.value.kind, refused.value.message))
    assert said == {(Kind.NOT_FOUND, "no such document")}
    assert len(house.arbiter.asked) == 1 + len(absent)


async def test_what_is_not_held_is_not_found_even_if_authz_speaks(house: House) -> None:
    """An id that is not held stays absent whatever is ruled about it."""
    house.arbiter.rulings["a" * 26] = SPEAK
    with pytest.raises(ServiceError) as refused:
        await house.document("a" * 26)
    assert refused.value.kind is Kind.NOT_FOUND


async def test_an_outage_does_not_tell_hidden_from_absent(house: House) -> None:
    """While an app does not answer, hidden, absent and unruled documents are withheld alike (F03).

    Broken to see red: the apps not probed; `_silent` naming the
    document's own app first.
    """
    for app in ("docs", "sheets"):
        await house.source(app, SourceState.CURRENT)
    hidden, unruled = await house.item("a"), await house.item("b", app="sheets")
    seen = await house.item("c")
    house.arbiter.rulings |= {"a": OMIT, "b": NO_ANSWER, "z" * 26: OMIT}

    def sheets_is_down(claims: list[Claim]) -> list[Ruling]:
        told = [house.arbiter.rulings.get(house.arbiter._name(claim), SPEAK) for claim in claims]
        return [
            NO_ANSWER if isinstance(claim, SiblingClaim | ProbeClaim) and claim.app == "sheets" else ruling
            for claim, ruling in zip(claims, told, strict=True)
        ]

    house.arbiter.spoil = lambda _: sheets_is_down(house.arbiter.asked[-1])
    for document_id in (hidden.document_id, unruled.document_id, "z" * 26):
        assert await house.document(document_id) == Notice("sheets", NoticeKind.NO_ANSWER, 1)
    assert isinstance(await house.document(seen.document_id), SpokenDocument)


async def test_a_search_that_found_nothing_takes_a_round_too(house: House) -> None:
    """Or its time would tell which words stand in hidden documents. Broken to see red: no round without a claim."""
    await house.item("a", "budget")
    for query in ("budget", "nothingmatches"):
        await house.search(query)
    assert len(house.arbiter.asked) == 2
    await house.search(" ?! ")  # nothing was looked for, whatever is held
    assert len(house.arbiter.asked) == 2


async def test_somebody_without_standing_gets_no_counts(house: House) -> None:
    """A refused question is no missing answer. Broken to see red: REFUSED turned into withheld candidates."""
    await house.item("a", "budget")

    def refuse(_: list[Ruling]) -> list[Ruling]:
        raise ServiceError(Kind.REFUSED, "not on this team")

    house.arbiter.spoil = refuse
    for ask in (house.search("budget"), house.document("a" * 26)):
        with pytest.raises(ServiceError) as refused:
            await ask
        assert refused.value.kind is Kind.REFUSED


async def test_half_an_upload_is_no_document(house: House) -> None:
    """Parts are found and opened only once all of them are stored. Broken to see red: `whole` returning any ref."""
    first = await house.upload("budget\n\none", 0, 2)
    assert (await house.search("budget")).rows == ()
    house.arbiter.rulings[first.document_id] = OMIT  # as authz says of what is not present
    with pytest.raises(ServiceError):
        await house.document(first.document_id)
    house.arbiter.rulings.clear()
    await house.upload("budget\n\ntwo", 1, 2)
    assert len((await house.search("budget")).rows) == 2
    assert isinstance(await house.document(first.document_id), SpokenDocument)


async def test_a_withheld_document_says_why(house: House) -> None:
    """A document whose owner did not answer is withheld, loudly."""
    ref = await house.item("a")
    house.arbiter.rulings["a"] = NO_ANSWER
    assert await house.document(ref.document_id) == Notice("docs", NoticeKind.NO_ANSWER, 1)


async def test_a_document_is_spoken_whole_with_the_parts_that_may_be(house: House) -> None:
    """Chunks in order; of a long upload the parts that were ruled in this very request."""
    parts = [await house.upload("long file\n\nsecond", part, 3) for part in range(3)]
    house.arbiter.rulings[parts[1].document_id] = OMIT
    spoken = await house.document(parts[0].document_id)
    assert isinstance(spoken, SpokenDocument)
    assert [chunk.text for chunk in spoken.chunks] == ["long file", "second"]
    assert spoken.parts == (parts[0].document_id, parts[2].document_id)
    assert len(house.arbiter.asked) == 1
