"""A scope as JSON lines: what `Scope.export` writes."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memspan._engine.paths import file_to_write
from memspan._fence import system_error
from memspan._flags import check_flags
from memspan._parts import create_beside, remove_abandoned
from memspan.exceptions import Error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memspan.long_term import Scope

__all__ = ["export"]


def export(scope: Scope, path: str | os.PathLike[str], *, everything: bool) -> int:
    """Writes every current memory of a scope to a file, or all that it has, whole or not at all; how many lines."""
    check_flags(f"exporting {scope!r}", everything=everything)
    target = file_to_write(scope._store.core.path, f"exporting {scope!r}", path)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    remove_abandoned(target)
    count, part = 0, None
    try:
        part, number = create_beside(target)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            for row in _rows(scope, everything=everything):
                file.write(json.dumps(_plain(row), ensure_ascii=False, allow_nan=False, separators=(",", ":")))
                file.write("\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
            part.replace(target)  # while it is locked
    except OSError as error:
        if isinstance(error, Error):
            raise
        raise system_error(f"exporting {scope!r}", error, target) from error
    finally:
        with suppress(OSError):
            if part is not None:
                part.unlink(missing_ok=True)
    return count


def _rows(scope: Scope, *, everything: bool) -> Iterable[dict[str, Any]]:
    if not everything:
        return (memory.to_dict() for memory in scope.memories())
    from memspan._scope.everything import rows  # noqa: PLC0415  few programs hand over all that they have of somebody

    return rows(scope)


def _plain(value: Any) -> Any:
    """A value of a row as JSON has it. One of the package's own is an object of its fields."""
    names: tuple[str, ...] = getattr(value, "__match_args__", ())
    if names:
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, bytes):
        import base64  # noqa: PLC0415

        return base64.b64encode(value).decode("ascii")
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value.isoformat() if isinstance(value, datetime) else value
