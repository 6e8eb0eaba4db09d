"""Who is asked must not depend on what is held: the time a search takes is seen by whoever searches."""

from memoria_authz.claims import OwnedClaim


async def test_every_sibling_is_asked_every_time(house, ann, claim) -> None:
    """About an item it cannot have where it owns nothing of the question (AUT-01).

    Broken to see red: only the owners of claims asked.
    """
    for claims in ([], [OwnedClaim("d", True)], [claim()]):
        for sibling in house.siblings.values():
            sibling.asked.clear()
        assert len(await house.bench.rule(ann, claims)) == len(claims)
        assert [len(sibling.asked) for sibling in house.siblings.values()] == [1] * len(house.siblings)
        assert all(len(sibling.asked[0].items) == 1 for sibling in house.siblings.values())


async def test_no_question_is_known_by_its_made_up_item(house, ann) -> None:
    """Made up anew for each sibling and each question, and no shorter than an id: a sibling that knew it again would
    learn when memoria is asked about what it does not own, and could tell it from a real item.

    Broken to see red: the same words each time.
    """
    for _ in range(2):
        await house.bench.rule(ann, [])
    pairs = [(i.item_id, i.revision) for s in house.siblings.values() for asked in s.asked for i in asked.items]
    assert len(pairs) == 2 * len(house.siblings)
    assert len({item for item, _ in pairs}) == len({revision for _, revision in pairs}) == len(pairs)
    assert all(len(item) >= 16 for item, _ in pairs)
