"""memspan: an embedded memory-and-context engine for LLM applications."""

from memspan.exceptions import *  # noqa: F403

__version__ = "0.1.0"
