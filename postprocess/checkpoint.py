"""Open a checkpoint: print its contents and draw a plane of one of its fields.

    usage: checkpoint.py CHECKPOINT.zarr PICTURE.png [FIELD]

CHECKPOINT.zarr is one of `RUN_DIR/checkpoints`, a Zarr v3 group with an array [z, y, x] for every field of U (density,
momentum, total energy, or a scalar) and the coordinates x, y and z, which checkpoints of early versions lack. FIELD is drawn in
the middle plane of constant z; the default is the first field. Means are over points with equal weights: they are the volume
averages of `series.csv` if spacings are equal and all axes periodic. For other grids a checkpoint does not contain the volumes.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

from pathlib import Path

from common import kolmo, plt, script
from kolmo import checkpoints


def main(checkpoint, picture, name=None):
    data = checkpoints.read(Path(checkpoint))
    print(f"step {data.attrs['step']}, time {data.attrs['time']:g}, points {dict(data.sizes)}")
    for field in data.data_vars.values():
        values = [float(x) for x in (field.mean(), field.min(), field.max())]
        print("{:12} mean over points {:.9g}  min {:.9g}  max {:.9g}".format(field.name, *values))
    name = name or next(iter(data))
    if name not in data:
        raise kolmo.KolmoError(f"the checkpoint has no `{name}`, but {', '.join(data)}")
    field = data[name]
    figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
    plane = field.isel(z=field.sizes["z"] // 2)
    plane.plot.imshow(ax=axes, cmap="viridis", cbar_kwargs={"label": name})
    height = f", z = {float(plane.z):.4g}" if "z" in data.coords else ""
    right, up = plane.dims[::-1]
    title = f"{name} in the middle plane{height}, t = {data.attrs['time']:g}"
    axes.set(title=title, aspect="equal", xlabel=right, ylabel=up)
    figure.savefig(Path(picture), dpi=100)


if __name__ == "__main__":
    script(main, __doc__, 2, 3)
