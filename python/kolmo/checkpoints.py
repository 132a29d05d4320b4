"""Checkpoints, stored as Zarr v3 groups."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kolmo import columns
from kolmo.errors import KolmoError

if TYPE_CHECKING:
    import xarray

_NAME = re.compile(r"step_(\d+)\.zarr")


def steps(directory: Path) -> dict[int, Path]:
    """Return the checkpoints in a folder by their steps, in order."""
    found = ((_NAME.fullmatch(path.name), path) for path in directory.glob("step_*.zarr"))
    return dict(sorted((int(name[1]), path) for name, path in found if name))


def read(path: Path, names: str | Sequence[str] | None = None) -> "xarray.Dataset":
    """Read the conserved fields of a checkpoint: `density`, `momentum_x`, `momentum_y`, `momentum_z`, `total_energy`, `rho_NAME` of
    each passive scalar; or `scalar`.

    Args:
        path: A folder `step_00000100.zarr`.
        names: The field or fields to read; None reads all of them.

    Returns:
        Fields of shape (nz, ny, nx) in double precision, with the coordinates `x`, `y`, `z` in L, which checkpoints of early
        versions lack. On a curvilinear grid the dimensions are (z, j, i), and `z` is the only coordinate: a checkpoint does
        not hold the points of such a grid. `attrs` has `step` and `time` (in L/V₀).
    """
    import xarray
    import zarr

    try:
        group: Any = zarr.open_group(path, mode="r")
        metadata: Any = group.attrs["kolmo"]
        head, files = metadata["head"], metadata["files"]
    except KeyError as why:
        raise KolmoError(f"{path} is a Zarr group, but not one that Kolmo wrote") from why
    except (OSError, ValueError) as why:
        raise KolmoError(f"{path} is not a checkpoint: {why}") from why
    is_curvilinear = "mapping" in tomllib.loads(head["config"])["grid"]
    dimensions = ("z", "j", "i") if is_curvilinear else ("z", "y", "x")

    def stored(name: str) -> tuple[Any, float]:
        """Return the values of an array and the offset that was subtracted from them."""
        for file, known in files.items():
            if file.startswith(f"{name}/"):
                _check(path / file, known["bytes"])
        try:
            array = group[name]
            return array[:], array.attrs.get("add_offset", 0.0)
        except Exception as why:  # Zarr raises many types of exception for damaged arrays.
            raise KolmoError(f"{path / name} is damaged: {why}") from why

    variables = {}
    requested = columns.names_of(names)
    for name in head["fields"] if requested is None else requested:
        if name not in head["fields"]:
            raise KolmoError(f"{path} holds no `{name}`, but {', '.join(head['fields'])}")
        values, offset = stored(name)
        # Single precision is stored relative to a state at rest. In double precision the sum is exact.
        values = values.astype("f8") + offset
        meaning = columns.of_field(name)
        notes = {"long_name": meaning.what, "units": meaning.unit} if meaning else {}
        variables[name] = xarray.DataArray(values, dims=dimensions, attrs=notes)
    axes = "z" if is_curvilinear else "zyx"
    coordinates = {axis: (axis, stored(axis)[0], {"units": "L"}) for axis in axes if f"{axis}/zarr.json" in files}
    return xarray.Dataset(variables, coords=coordinates, attrs={"step": head["step"], "time": head["time"]})


def _check(file: Path, length: int) -> None:
    """Refuse a file whose length is not the recorded one: for a missing file Zarr returns NaN."""
    try:
        found = file.stat().st_size
    except OSError as why:
        raise KolmoError(f"{file} cannot be read: {why.strerror}") from why
    if found != length:
        raise KolmoError(f"{file} is damaged: it has {found} bytes, not {length}")
