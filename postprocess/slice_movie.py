"""Make a film of a run: a field in a plane, one picture for every time at which fields were written.

    usage: slice_movie.py RUN_DIR FILM.gif [FIELD] [PLANE]

FIELD is one of the fields of the run, of a vector its magnitude; where none is given it is the vorticity, else what comes
first. PLANE is xy, xz or yz, through the middle of the box; where none is given xy. Colours mean the same in all pictures.

Needs: pip install -r tests/requirements.txt (./test does that; then .venv/bin/python runs this). No ffmpeg.
"""

import sys
from pathlib import Path

import numpy
from PIL import Image

from common import field_files, plt, read_fields, summary, title

# Milliseconds of a picture; the last one stays longer.
PICTURE, LAST = 150, 1500
# Axis of the array [k, j, i] that is cut, and what is drawn to the right and upwards.
PLANES = {"xy": (0, "x", "y", (0, 1)), "xz": (1, "x", "z", (0, 2)), "yz": (2, "y", "z", (1, 2))}


def choose(fields, asked):
    """The field that is drawn."""
    if asked is None:
        return "vorticity" if "vorticity" in fields else sorted(fields)[0]
    if asked not in fields:
        sys.exit(f"error: the run has no `{asked}`, but {', '.join(sorted(fields))}")
    return asked


def cut(fields, name, axis):
    values = fields[name]
    plane = values.take(values.shape[axis] // 2, axis=axis)
    return numpy.sqrt((plane**2).sum(axis=-1)) if plane.ndim == 3 else plane


def draw(plane, ends, extent, labels, heading, name):
    """One picture."""
    figure, axes = plt.subplots(figsize=(6, 5.4), layout="constrained")
    figure.suptitle(heading, fontsize=10)
    drawn = axes.imshow(plane, origin="lower", extent=extent, cmap="viridis", vmin=ends[0], vmax=ends[1])
    axes.set(xlabel=labels[0], ylabel=labels[1])
    figure.colorbar(drawn, label=name)
    figure.canvas.draw()
    picture = Image.fromarray(numpy.asarray(figure.canvas.buffer_rgba())[..., :3].copy())
    plt.close(figure)
    return picture


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    run, film = Path(sys.argv[1]), Path(sys.argv[2])
    asked = sys.argv[3] if len(sys.argv) > 3 else None
    plane = sys.argv[4] if len(sys.argv) > 4 else "xy"
    if plane not in PLANES:
        sys.exit(f"error: `{plane}` is no plane; allowed: {', '.join(PLANES)}")
    axis, right, up, along = PLANES[plane]
    files = field_files(run)
    planes, name = [], None
    for time, path in files:
        fields, spacing = read_fields(path)
        name = name or choose(fields, asked)
        planes.append((time, cut(fields, name, axis)))
    size = planes[0][1].shape
    if min(size) < 2:
        sys.exit(f"error: the run has one point along an axis of the plane {plane}; choose another")
    ends = min(p.min() for _, p in planes), max(p.max() for _, p in planes)
    extent = (0, spacing[along[0]] * size[1], 0, spacing[along[1]] * size[0])
    heading = title(summary(run))
    pictures = [draw(p, ends, extent, (right, up), f"{heading}\nt = {time:.3f}", name) for time, p in planes]
    # One palette for all of them, so that a colour does not flicker.
    palette = pictures[-1].quantize(255)
    pictures = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    lasting = [PICTURE] * (len(pictures) - 1) + [LAST]
    pictures[0].save(film, save_all=True, append_images=pictures[1:], duration=lasting, loop=0)


if __name__ == "__main__":
    main()
