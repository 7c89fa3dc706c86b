"""How a command prints its result: one JSON value, a table of `rich`'s, or plain text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from memspan._characters import visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    Table = Callable[[object, Sequence[str], Iterable[Sequence[object]]], None]

__all__ = ["cell", "print_json", "say", "share", "table_printer"]


def table_printer(options: argparse.Namespace) -> Table:
    """The function that prints a result: one JSON value, a table of `rich`'s, or plain text."""
    if options.json:
        return lambda value, _columns, _rows: print_json(value)
    try:
        from rich.console import Console  # noqa: PLC0415  an optional extra
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415
    except ImportError:
        return _show_plain

    def show(_value: object, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        table = Table(*columns)
        for row in rows:
            table.add_row(*(Text(visible(cell)) for cell in row))  # Text: what a user wrote is no markup
        console = Console()
        with console.capture() as drawn:  # it would end the process with code 1 where the reader is gone
            console.print(table)
        print(drawn.get(), end="")

    return show


def _show_plain(_value: object, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns two blanks apart; the last one is not padded."""
    cells = [[visible(" ".join(str(cell).split())) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print()


def say(options: argparse.Namespace, value: object, text: str) -> None:
    """Prints a value, or the text that says it."""
    if options.json:
        print_json(value)
    else:
        print(visible(text))


def print_json(value: object) -> None:
    """Prints one JSON value."""
    print(visible(json.dumps(value, default=_plain, ensure_ascii=False)))


def _plain(value: object) -> object:
    return dict(cast("Mapping[object, object]", value)) if isinstance(value, Mapping) else str(value)


def cell(value: object) -> str:
    """A value in a table."""
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def share(part: int, whole: int) -> str:
    """A part of a whole, with its percentage."""
    return f"{part:,} ({part / whole:.1%})" if whole else "0"
