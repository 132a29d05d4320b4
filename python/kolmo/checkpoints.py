"""Checkpoints, which are groups of Zarr v3."""

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kolmo import columns
from kolmo.errors import KolmoError

if TYPE_CHECKING:
    import xarray

_NAME = re.compile(r"step_(\d+)\.zarr")


def steps(directory: Path) -> dict[int, Path]:
    """The checkpoints in a folder by their steps, in order."""
    found = ((_NAME.fullmatch(path.name), path) for path in directory.glob("step_*.zarr"))
    return dict(sorted((int(name[1]), path) for name, path in found if name))


def read(path: Path, names: list[str] | None = None) -> "xarray.Dataset":
    """The conserved fields of a checkpoint: `density`, `momentum_x`, `momentum_y`, `momentum_z`, `total_energy`, `rho_NAME` of
    each passive scalar; or `scalar`.

    Args:
        path: A folder `step_00000100.zarr`.
        names: The fields to read; all of them where it is None.

    Returns:
        Fields of shape (nz, ny, nx) in double precision, with the coordinates `x`, `y`, `z` in L, which checkpoints of early
        versions lack. On a curvilinear grid the dimensions are (z, j, i), and `z` is the only coordinate: a checkpoint does
        not hold the points of such a grid. `attrs` has `step` and `time` (in L/V₀).
    """
    import xarray
    import zarr

    try:
        group: Any = zarr.open_group(path, mode="r")
        head: dict[str, Any] = group.attrs["kolmo"]["head"]
    except KeyError as why:
        raise KolmoError(f"{path} is a Zarr group, but not one that Kolmo wrote") from why
    except (OSError, ValueError) as why:
        raise KolmoError(f"{path} is no checkpoint: {why}") from why
    curved = "mapping" in tomllib.loads(head["config"])["grid"]
    dimensions = ("z", "j", "i") if curved else ("z", "y", "x")
    variables = {}
    for name in head["fields"] if names is None else names:
        if name not in head["fields"]:
            raise KolmoError(f"{path} holds no `{name}`, but {', '.join(head['fields'])}")
        stored = group[name]
        # Single precision is stored relative to a state at rest. In double precision the sum loses nothing.
        values = stored[:].astype("f8") + stored.attrs.get("add_offset", 0.0)
        meaning = columns.of_field(name)
        notes = {"long_name": meaning.what, "units": meaning.unit} if meaning else {}
        variables[name] = xarray.DataArray(values, dims=dimensions, attrs=notes)
    axes = "z" if curved else "zyx"
    coordinates = {axis: (axis, group[axis][:], {"units": "L"}) for axis in axes if axis in group}
    return xarray.Dataset(variables, coords=coordinates, attrs={"step": head["step"], "time": head["time"]})
