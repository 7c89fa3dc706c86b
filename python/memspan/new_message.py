"""A message that a caller adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan._values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from memspan.counting import SdkObject
    from memspan.working import Format

__all__ = ["NewMessage"]


@dataclass(frozen=True)
class NewMessage:
    """A row of `Session.add_many`: the arguments of `Session.add`. A mapping with the same keys does as well.

    Attributes:
        message: The message: a mapping of OpenAI's or Anthropic's shape, or an SDK's object.
        id: Makes a retry harmless: unique in the session.
        author: Who wrote it.
        created_at: When it was said. A naive time is UTC.
        format: The shape it is in, where the shape itself does not tell.
    """

    message: Mapping[str, Any] | SdkObject
    id: str | None = None
    author: str | None = None
    created_at: datetime | None = None
    format: Format | None = None
