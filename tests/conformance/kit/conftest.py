"""The siblings that tests of the kit share."""

from collections.abc import Iterator

import pytest
from kit_harness import empty_sibling, served, target_of

from memoria_conformance.kit import Target
from memoria_conformance.sibling import Sibling


@pytest.fixture
def sheets() -> Sibling:
    return empty_sibling()


@pytest.fixture
def target(sheets: Sibling) -> Target:
    return target_of(sheets)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("served") / "sheets.sqlite") as found:
        yield found
