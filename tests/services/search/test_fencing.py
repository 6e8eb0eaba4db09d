"""Failures at the bucket: another instance's hold ends this process, any other failure may be got over."""

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.fencing import ending, tolerating
from memoria_search.snapshot.fence import FencedError

AWAY = ServiceError(Kind.UNAVAILABLE, "the bucket did not do what was asked")


@pytest.mark.parametrize(
    ("raised", "passed_on"),
    [(FencedError(), True), (AWAY, False), (ValueError("a fault of ours"), True), (None, False)],
)
def test_only_what_another_instance_did_not_do_is_tolerated(raised: Exception | None, passed_on: bool) -> None:
    """That another instance has the bucket is passed on although it is a ServiceError, and so is what is none.

    Broken to see it red: tolerating every ServiceError.
    """
    heard = None
    try:
        with tolerating("something was not done"):
            if raised:
                raise raised
    except Exception as error:
        heard = error
    assert heard is (raised if passed_on else None)


@pytest.mark.parametrize(("raised", "times"), [(FencedError(), 1), (AWAY, 0), (ValueError(), 0)])
def test_only_another_instance_ends_the_process(raised: Exception, times: int) -> None:
    """A bucket that is away, or a fault, is raised and ends nothing.

    Broken to see it red: giving up at every ServiceError.
    """
    given_up: list[bool] = []
    with pytest.raises(type(raised)) as heard, ending(lambda: given_up.append(True)):
        raise raised
    assert heard.value is raised
    assert len(given_up) == times
