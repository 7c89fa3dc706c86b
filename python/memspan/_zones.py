"""The zone that a caller names: whose days "yesterday" and "on 7 May" are."""

from __future__ import annotations

from datetime import tzinfo

from memspan._flags import shown
from memspan.exceptions import InvalidInput


def zone_of(doing: str, timezone: tzinfo | str | None) -> tzinfo | None:
    """The zone of that name; `None` is UTC. `doing` begins the error."""
    if timezone is None or isinstance(timezone, tzinfo):
        return timezone
    from zoneinfo import ZoneInfo  # noqa: PLC0415  most callers name none

    try:
        return ZoneInfo(timezone)
    except (KeyError, ValueError, TypeError, OSError) as error:
        raise InvalidInput(
            f"{doing}: timezone= is a tzinfo or the name of a zone that this machine knows, for instance 'Europe/Berlin', and it is "
            f"{shown(timezone)}: correct it; where a machine knows no zones at all, pip install tzdata",
            timezone=shown(timezone),
        ) from error
