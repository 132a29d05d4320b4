"""Open a checkpoint: print what is in it and draw a plane of one of its fields.

    usage: checkpoint.py CHECKPOINT.zarr PICTURE.png [FIELD]

CHECKPOINT.zarr is one of `RUN_DIR/checkpoints`, a Zarr v3 group that holds an array [z, y, x] for every field of U (density,
momentum, total energy, or a scalar) and the coordinates x, y and z, which those of early versions lack; FIELD is the one to draw in the middle plane of constant z, the first where none is
given. Runs in single precision store deviations from a state at rest: `add_offset`, an attribute of the array, belongs on
top of what it holds. The attributes of the group have step and time, among others, under `kolmo.head`.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

import sys
from pathlib import Path

import xarray
import zarr

from common import plt


def load(path):
    """The fields as an xarray.Dataset with their offsets added, and the attributes of Kolmo."""
    try:
        group = zarr.open_group(path, mode="r")
    except (FileNotFoundError, ValueError) as error:
        sys.exit(f"error: {path} is no checkpoint: {error}")
    if "kolmo" not in group.attrs:
        sys.exit(f"error: {path} is a Zarr group, but not one that Kolmo wrote")
    head = group.attrs["kolmo"]["head"]
    fields = {}
    for name in head["fields"]:
        stored = group[name]
        # In double precision, where the sum loses nothing.
        values = stored[:].astype("f8") + stored.attrs.get("add_offset", 0.0)
        fields[name] = xarray.DataArray(values, dims=stored.metadata.dimension_names)
    coordinates = {axis: (axis, group[axis][:]) for axis in "xyz" if axis in group}
    return xarray.Dataset(fields).assign_coords(coordinates), head


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    data, head = load(Path(sys.argv[1]))
    print(f"step {head['step']}, time {head['time']:g}, points {dict(data.sizes)}")
    for name, field in data.items():
        values = [float(x) for x in (field.mean(), field.min(), field.max())]
        print("{:12} mean {:.9g}  min {:.9g}  max {:.9g}".format(name, *values))
    name = sys.argv[3] if len(sys.argv) == 4 else next(iter(data))
    if name not in data:
        sys.exit(f"error: the checkpoint has no `{name}`, but {', '.join(data)}")
    field = data[name]
    figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
    plane = field.isel(z=field.sizes["z"] // 2)
    plane.plot.imshow(ax=axes, cmap="viridis", cbar_kwargs={"label": name})
    labels = {"xlabel": "x", "ylabel": "y"} if "x" in data.coords else {"xlabel": "i", "ylabel": "j"}
    height = f", z = {float(plane.z):.4g}" if "z" in data.coords else ""
    axes.set(title=f"{name} in the middle plane{height}, t = {head['time']:g}", aspect="equal", **labels)
    figure.savefig(Path(sys.argv[2]), dpi=100)


if __name__ == "__main__":
    main()
