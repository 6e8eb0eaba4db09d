"""What is kept of a vector: the first values at unit length, or a refusal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.index.vectors.quantise import NORM_TOLERANCE, Quantised, check_unit, quantise
from memoria_search.index.vectors.space import MAX_WIDTH, Space

NATIVE, WIDTH = 24, 16


def broken(**cells: float) -> np.ndarray:
    """Two good vectors, of which the second has a cell changed."""
    vectors = np.ones((2, NATIVE), dtype=np.float32)
    for at, value in cells.items():
        vectors[1, int(at.removeprefix("at"))] = value
    return vectors


REFUSED = {
    "fewer vectors than texts": broken()[:1],
    "more vectors than texts": np.ones((3, NATIVE), np.float32),
    "no vectors": np.ones((0, NATIVE), np.float32),
    "one dimension": np.ones(2 * NATIVE, np.float32),
    "three dimensions": np.ones((2, NATIVE, 1), np.float32),
    "another length": np.ones((2, NATIVE - 1), np.float32),
    "only what is kept": np.ones((2, WIDTH), np.float32),
    "integers": np.ones((2, NATIVE), np.int64),
    "NaN": broken(at3=np.nan),
    "NaN in what is cut off": broken(at23=np.nan),
    "infinity": broken(at0=np.inf),
    "negative infinity": broken(at0=-np.inf),
    "zero": np.stack([np.ones(NATIVE, np.float32), np.zeros(NATIVE, np.float32)]),
    "zero in what is kept": np.stack([np.ones(NATIVE, np.float32), np.eye(NATIVE, dtype=np.float32)[WIDTH]]),
}


@pytest.mark.parametrize("vectors", REFUSED.values(), ids=REFUSED)
def test_what_is_no_answer_to_two_texts_is_refused(vectors: np.ndarray) -> None:
    """Count, shape, length, finiteness and direction, each with INVALID and a sentence that names no value (IDX-04).

    Broken to see it red: each of the five checks of `quantise` and `_unit` taken out.
    """
    with pytest.raises(ServiceError) as refused:
        quantise(vectors, 2, NATIVE, WIDTH)
    assert refused.value.kind is Kind.INVALID


@pytest.mark.parametrize("factor", [0.5, 0.98, 1.02, 2.0, np.nan, np.inf, 0.0, -1.0])
def test_a_vector_that_is_not_of_unit_length_is_refused(factor: float) -> None:
    """A scale that makes the dequantised vector longer or shorter than 1 by more than a hundredth (IDX-05, G28)."""
    made = quantise(np.ones((2, NATIVE), np.float32), 2, NATIVE, WIDTH)
    check_unit(made, WIDTH)
    with pytest.raises(ServiceError, match="unit length"):
        check_unit(Quantised(made.rows, (made.scales * np.array([1.0, factor])).astype(np.float32)), WIDTH)


def test_rows_of_another_width_or_type_are_refused() -> None:
    """A row must be int8 of its space's width, with one float32 scale."""
    made = quantise(np.ones((2, NATIVE), np.float32), 2, NATIVE, WIDTH)
    for wrong in (
        Quantised(made.rows[:, :-1], made.scales),
        Quantised(made.rows.astype(np.int16), made.scales),  # type: ignore[arg-type]  # what must be refused
        Quantised(made.rows[0], made.scales),
        Quantised(made.rows, made.scales[:1]),
        Quantised(made.rows, made.scales.astype(np.float64)),  # type: ignore[arg-type]  # what must be refused
    ):
        with pytest.raises(ServiceError):
            check_unit(wrong, WIDTH)


@pytest.mark.parametrize("width", [0, -1, MAX_WIDTH + 1])
def test_a_space_is_at_most_512_wide(width: int) -> None:
    """No space is wider than what is kept, and none is without width."""
    with pytest.raises(ServiceError):
        Space("m", "d", width)


@pytest.mark.parametrize("text", ["", "[]", "[1, 2]", '["m", "d", 0]', '["m", "d", "x"]', "null", '{"model": 1}', "\0"])
def test_a_description_that_was_never_made_is_refused(text: str) -> None:
    """Garbage in the place of a space's description is an error, not a space."""
    with pytest.raises(ServiceError):
        Space.read(text)


def test_a_space_is_read_back_and_spaces_differ() -> None:
    """Model, digest and width each make another space with another tag (AMD-11)."""
    space = Space("model", "digest", 384)
    assert Space.read(space.description) == space
    others = [Space("model2", "digest", 384), Space("model", "digest2", 384), Space("model", "digest", 383)]
    assert len({other.tag for other in [*others, space]}) == 4


finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(
    arrays.arrays(np.float32, st.tuples(st.integers(1, 5), st.just(NATIVE)), elements=finite),
    st.sampled_from([1, 2, WIDTH, NATIVE]),
)
def test_what_is_kept_is_the_first_values_at_unit_length(vectors: np.ndarray, width: int) -> None:
    """Whatever finite vector comes: length 1 within a hundredth, the direction of its first `width` values (IDX-05).

    Broken to see it red: the renormalisation skipped, and the last values kept in place of the first.
    """
    kept = vectors[:, :width].astype(np.float64)
    if not kept.any(axis=1).all():
        with pytest.raises(ServiceError, match="without direction"):
            quantise(vectors, len(vectors), NATIVE, width)
        return
    made = quantise(vectors, len(vectors), NATIVE, width)
    back = made.rows.astype(np.float64) * made.scales[:, None]
    assert np.allclose(np.linalg.norm(back, axis=1), 1.0, atol=NORM_TOLERANCE)
    kept /= np.abs(kept).max(axis=1, keepdims=True)
    kept /= np.linalg.norm(kept, axis=1, keepdims=True)
    assert ((back * kept).sum(axis=1) > 0.99).all()
    assert (made.rows > -128).all()
