"""The pytest fixtures that come with memspan. Found by pytest through the entry point; nothing imports it otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspan.testing import FakeClock, temporary_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

    import memspan


@pytest.fixture
def memspan_clock() -> FakeClock:
    """The clock of `memspan_engine`; it moves when the test moves it."""
    return FakeClock()


@pytest.fixture
def memspan_engine(memspan_clock: FakeClock) -> Iterator[memspan.Engine]:
    """An engine on a store of its own, under `memspan_clock`, without an embedder."""
    with temporary_engine(clock=memspan_clock, embedder=None) as engine:
        yield engine
