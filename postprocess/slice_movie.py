"""Make a film of a run: a field in a plane, one picture for each time at which fields were written.

    usage: slice_movie.py RUN_DIR FILM.gif [FIELD] [PLANE]

FIELD is one of the fields of the run; for a vector the magnitude is drawn. The default is the vorticity, or else the first
field. PLANE is xy (the default), xz or yz, through the middle of the box. All pictures share one colour scale.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how). No ffmpeg.
"""

from common import kolmo, plt, script, spacing

import numpy
from kolmo.plot import label, magnitude
from PIL import Image

# Duration of a picture in milliseconds; the last one is shown longer.
PICTURE, LAST = 150, 1500
# The axis across each plane.
PLANES = {"xy": "z", "xz": "y", "yz": "x"}


def choose(fields, asked):
    """Return the name of the field to draw."""
    if asked is None:
        return "vorticity" if "vorticity" in fields else sorted(fields)[0]
    if asked not in fields:
        raise kolmo.KolmoError(f"the run has no `{asked}`, but {', '.join(sorted(fields))}")
    return asked


def draw(plane, ends, sides, labels, heading, name):
    """Draw one picture. Points are the centres of pixels, so half a pixel lies outside the box at each end of a side."""
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


def main(run, film, asked=None, plane="xy"):
    if plane not in PLANES:
        raise kolmo.KolmoError(f"`{plane}` is no plane; allowed: {', '.join(PLANES)}")
    run, across, planes, name = kolmo.open(run), PLANES[plane], [], None
    for time in run.field_times:
        fields = run.fields(time, closed=True)
        name = name or choose(fields, asked)
        field = magnitude(fields[name])
        planes.append((time, field.isel({across: field.sizes[across] // 2})))
    spacing(run, fields)
    if min(planes[0][1].shape) < 2:
        raise kolmo.KolmoError(f"the run has one point along an axis of the plane {plane}; choose another")
    ends = min(float(p.min()) for _, p in planes), max(float(p.max()) for _, p in planes)
    sides = [(float(fields[axis][0]), float(fields[axis][-1])) for axis in plane]
    where = f"{across} = {float(planes[0][1][across]):.3g}"
    heading, colours = run.title, label(fields[name])
    pictures = [
        draw(p.values, ends, sides, plane, f"{heading}\n{where}, t = {time:.3f}", colours) for time, p in planes
    ]
    # One palette for all pictures, so that colours do not flicker.
    palette = pictures[-1].quantize(255)
    pictures = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    lasting = [PICTURE] * (len(pictures) - 1) + [LAST]
    pictures[0].save(film, save_all=True, append_images=pictures[1:], duration=lasting, loop=0)


if __name__ == "__main__":
    script(main, __doc__, 2, 4)
