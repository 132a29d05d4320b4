"""Tables of a run as pandas DataFrames, with the units and meanings of their columns.

`frame.attrs["units"]` and `frame.attrs["meaning"]` are dicts by column, for the known columns; `frame.attrs["source"]`
is the text of the `#` lines above the table.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from kolmo import columns
from kolmo.errors import KolmoError

if TYPE_CHECKING:
    import pandas


def read(path: Path, meaning: Callable[[str], columns.Meaning | None]) -> "pandas.DataFrame":
    """Read the complete rows of the table in a CSV file; `meaning` returns the meaning of a column."""
    import pandas

    try:
        text = path.read_text(encoding="utf-8")
        # A running or killed run may have left an incomplete last row.
        complete = text[: text.rfind("\n") + 1]
        comments = [line[1:].strip() for line in takewhile(lambda line: line.startswith("#"), io.StringIO(complete))]
        frame = pandas.read_csv(io.StringIO(complete), comment="#")
    except (OSError, ValueError) as why:
        raise KolmoError(f"{path} cannot be read: {why}") from why
    known = {name: found for name in frame.columns if (found := meaning(name))}
    frame.attrs["units"] = {name: found.unit for name, found in known.items()}
    frame.attrs["meaning"] = {name: found.what for name, found in known.items()}
    if comments:
        frame.attrs["source"] = " ".join(comments)
    return frame


class Statistics(Mapping[str, "pandas.DataFrame"]):
    """The tables of `statistics/` by name, such as `"spectra"`, `"moments"` and `"profiles"`; each is read on access."""

    def __init__(self, directory: Path, scalars: tuple[str, ...]) -> None:
        self._directory, self._scalars = directory, scalars

    def __getitem__(self, name: str) -> "pandas.DataFrame":
        path = self._directory / f"{name}.csv"
        if not path.exists():
            there = ", ".join(self) or "none"
            run = self._directory.parent
            raise KolmoError(f"{run} has no statistics/{name}.csv; set output.statistics (tables of this run: {there})")
        return read(path, lambda column: columns.of_statistics(name, column, self._scalars))

    def __iter__(self) -> Iterator[str]:
        return (path.stem for path in sorted(self._directory.glob("*.csv")))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __repr__(self) -> str:
        return f"<tables {', '.join(self) or 'none'} of {self._directory}>"
