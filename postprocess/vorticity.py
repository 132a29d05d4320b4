"""Draw the vorticity of plane runs side by side, with contours.

    usage: vorticity.py PICTURE.png TIME RUN_DIR...

Each RUN_DIR is a run with one point along z that wrote the field `vorticity`; the one nearest to TIME is drawn.
All pictures use the colour scale of the first.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

from common import kolmo, number, plt, script, spacing

import numpy
from kolmo.plot import INK


def main(picture, time, *directories):
    runs = [kolmo.open(directory) for directory in directories]
    figure, axes = plt.subplots(1, len(runs), figsize=(3.2 * len(runs), 3.9), squeeze=False, layout="constrained")
    largest = None
    for axis, run in zip(axes[0], runs):
        fields = run.fields(number(time), ["vorticity"], closed=True)
        spacing(run, fields)
        omega = fields["vorticity"].isel(z=0, component=2).values
        largest = largest or abs(omega).max()
        edges = [float(fields[side][end]) for side in "xy" for end in (0, -1)]
        # An even number of levels omits zero, around which there is only noise.
        levels = numpy.linspace(-largest, largest, 16)
        axis.imshow(omega, origin="lower", extent=edges, cmap="RdBu_r", vmin=-largest, vmax=largest)
        axis.contour(omega, levels=levels, extent=edges, colors=INK, linewidths=0.4)
        of = run.summary
        words = of["scheme"]["filter"]
        axis.set_title(f"{of['points'][0]} x {of['points'][1]} points, t = {float(fields.time):.2g}\nfilter: {words}", fontsize=9)
        axis.set_xticks([])
        axis.set_yticks([])
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    script(main, __doc__, 3)
