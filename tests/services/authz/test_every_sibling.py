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
