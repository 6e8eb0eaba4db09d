"""A naive oracle argues with a demo app over histories of edits, moves, rights, deletions and restores."""

from hypothesis import given, settings
from hypothesis import strategies as st

from memoria_chassis.errors import ServiceError
from memoria_conformance.sibling import make_sibling
from memoria_conformance.world import load_world
from memoria_contract.types import Subject, SubjectKind, Verdict

WORLD = load_world(
    "people:\n"
    + "".join(f"  {p}: {{person_ref: p-{p}, address: {p}@x.test, name: {p}}}\n" for p in ("ann", "bob"))
    + "docs:\n"
    + "".join(f"  - {{alias: d{n}, title: T, date: 2026-01-01, body: b}}\n" for n in range(3))
)

steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["edit", "team", "granted", "private", "grant", "revoke", "remove", "restore", "delete", "rewind"]
        ),
        st.integers(0, 2),
        st.sampled_from(["ann", "bob"]),
    ),
    max_size=14,
)


@settings(max_examples=40, deadline=None)
@given(steps, st.sampled_from(["hash", "counter"]))
def test_every_verdict_follows_from_the_history(history: list[tuple[str, int, str]], style: str) -> None:
    """After any history each person's verdict on each revision ever seen is what three plain rules say, and the feed
    names exactly what stands on the team rung."""
    sibling = make_sibling("docs", world=WORLD, revisions=style)
    ids = sibling.store.aliases()
    log = {n: [sibling.store.team_content(ids[f"d{n}"])[0]] for n in range(3)}
    ever = {n: set(revisions) | {"never"} for n, revisions in log.items()}
    rung, removed = dict.fromkeys(range(3), "team"), set()
    for serial, (act, n, person) in enumerate(history):
        item = {"item": ids[f"d{n}"]}
        try:
            match act:
                case "edit":
                    log[n].append(sibling.state.apply("edit", {**item, "body": f"b{serial}"})["revision"])
                    ever[n].add(log[n][-1])
                case "team" | "granted" | "private":
                    sibling.state.apply("move_rung", {**item, "rung": act})
                    rung[n] = act
                case "grant" | "revoke":
                    sibling.state.apply(act, {**item, "person": person})
                case "remove":
                    sibling.state.apply("remove_person", {**item, "person": person})
                    removed.add((n, person))
                case "restore":
                    sibling.state.apply("restore_person", {**item, "person": person})
                    removed.discard((n, person))
                case "delete":
                    sibling.state.apply("delete", item)
                    rung[n] = "deleted"
                case "rewind":
                    sibling.state.apply("partial_restore", item)
                    log[n].pop()
        except ServiceError:
            assert rung[n] == "deleted" or (act == "rewind" and len(log[n]) == 1)
    for person in ("ann", "bob"):
        subject = Subject(SubjectKind.ADDRESS, f"{person}@x.test")
        asked = [(n, revision) for n in range(3) for revision in sorted(ever[n])]
        pairs = [(ids[f"d{n}"], revision) for n, revision in asked]
        for (n, revision), verdict in zip(asked, sibling.server.rulings.authorize(subject, pairs), strict=True):
            if rung[n] != "team" or (n, person) in removed:
                expected = Verdict.NOT_VISIBLE
            elif revision == log[n][-1]:
                expected = Verdict.VISIBLE
            else:
                expected = Verdict.STALE if revision in log[n] else Verdict.AHEAD
            assert verdict is expected
    on_team = {ids[f"d{n}"]: log[n][-1] for n in range(3) if rung[n] == "team"}
    assert dict(sibling.server.feed.announce("memoria.pull", "").items) == on_team
    if not any(act == "rewind" for act, _, _ in history):
        changes = sibling.server.feed.changes("memoria.pull", "")
        assert changes is not None
        assert {row.item_id: row.revision for row in changes.rows if not row.gone} == on_team
    sibling.store.close()
