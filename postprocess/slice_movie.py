"""Make a film of a run: a field in a plane, one picture for every time at which fields were written.

    usage: slice_movie.py RUN_DIR FILM.gif [FIELD] [PLANE]

FIELD is one of the fields of the run, of a vector its magnitude; where none is given it is the vorticity, else what comes
first. PLANE is xy, xz or yz, through the middle of the box; where none is given xy. Colours mean the same in all pictures.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how). No ffmpeg.
"""

import sys
from pathlib import Path

import numpy
from PIL import Image

from common import field_files, label, plt, read_fields, summary, title

# Milliseconds of a picture; the last one stays longer.
PICTURE, LAST = 150, 1500
# Axis of the array [k, j, i] that is cut, its name, and the axes to the right and upwards.
PLANES = {"xy": (0, "z", "xy"), "xz": (1, "y", "xz"), "yz": (2, "x", "yz")}


def choose(fields, asked):
    """The field that is drawn."""
    if asked is None:
        return "vorticity" if "vorticity" in fields else sorted(fields)[0]
    if asked not in fields:
        sys.exit(f"error: the run has no `{asked}`, but {', '.join(sorted(fields))}")
    return asked


def middle(shape, axis):
    """The index of the plane in the middle of the box, of points that close the period."""
    return shape[axis] // 2


def cut(fields, name, axis):
    values = fields[name]
    plane = values.take(middle(values.shape, axis), axis=axis)
    return numpy.sqrt((plane**2).sum(axis=-1)) if plane.ndim == 3 else plane


def draw(plane, ends, sides, labels, heading, name):
    """One picture. Points are the centres of pixels, of which half a one lies outside the box at each end of a side."""
    figure, axes = plt.subplots(figsize=(6, 5.4), layout="constrained")
    figure.suptitle(heading, fontsize=10)
    halves = [(end - start) / (n - 1) / 2 for (start, end), n in zip(sides, plane.shape[::-1])]
    extent = [x for (start, end), half in zip(sides, halves) for x in (start - half, end + half)]
    drawn = axes.imshow(plane, origin="lower", extent=extent, cmap="viridis", vmin=ends[0], vmax=ends[1])
    axes.set(xlabel=f"{labels[0]}, in L", ylabel=f"{labels[1]}, in L", xlim=sides[0], ylim=sides[1])
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
    axis, across, labels = PLANES[plane]
    planes, name = [], None
    for time, path in field_files(run):
        fields, spacing, origin = read_fields(path, closed=True)
        name = name or choose(fields, asked)
        planes.append((time, cut(fields, name, axis)))
    points, vector = fields[name].shape[2::-1], fields[name].ndim == 4
    sides = {a: (x, x + h * (n - 1)) for a, x, h, n in zip("xyz", origin, spacing, points)}
    if min(planes[0][1].shape) < 2:
        sys.exit(f"error: the run has one point along an axis of the plane {plane}; choose another")
    ends = min(p.min() for _, p in planes), max(p.max() for _, p in planes)
    at = "xyz".index(across)
    where = f"{across} = {origin[at] + spacing[at] * middle(points, at):.3g}"
    heading = title(summary(run))
    pictures = [
        draw(p, ends, [sides[a] for a in labels], labels, f"{heading}\n{where}, t = {time:.3f}", label(name, vector))
        for time, p in planes
    ]
    # One palette for all of them, so that a colour does not flicker.
    palette = pictures[-1].quantize(255)
    pictures = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    lasting = [PICTURE] * (len(pictures) - 1) + [LAST]
    pictures[0].save(film, save_all=True, append_images=pictures[1:], duration=lasting, loop=0)


if __name__ == "__main__":
    main()
