"""What all tests share: the long form of the crash and property tests, and where the repository is."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
sys.path[:0] = [
    str(TESTS.parent),
    str(TESTS / "docs"),
    str(TESTS / "properties"),
    str(TESTS.parent / "benches"),
]  # `tests.vendors`, a local server, what counts independently, the rivals

from rivals import vocabularies  # noqa: E402  found by the path above

if TYPE_CHECKING:
    import tiktoken

    import memspan

# A shell that starts the tests in the background has SIGINT ignored, and so would every process that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Short runs are the same every time, so that a red one can be repeated; `make soak` looks for new cases.
settings.register_profile("short", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", deadline=None, max_examples=2_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("short")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="the long form of the crash and property tests")


@pytest.fixture(scope="session")
def rounds(request: pytest.FixtureRequest) -> int:
    """How often a crash test kills and looks: 10 times, 200 with --soak."""
    return 200 if request.config.getoption("--soak") else 10


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).parent.parent


@pytest.fixture
def user(memspan_engine: memspan.Engine) -> memspan.Scope:
    """A user of the plugin's engine: a store of its own, a clock that the test moves, no embedder."""
    return memspan_engine.user("u-42")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where a store can be made."""
    return tmp_path / "test.memspan"


@pytest.fixture(scope="session")
def o200k(tmp_path_factory: pytest.TempPathFactory) -> tiktoken.Encoding:
    """What gpt-4o counts by, as tiktoken does it; its files come from this checkout."""
    return vocabularies.openai("o200k_base", tmp_path_factory.mktemp("tiktoken"))
