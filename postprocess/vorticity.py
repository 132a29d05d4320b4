"""Draw the vorticity of plane runs side by side, with contours.

    usage: vorticity.py PICTURE.png TIME RUN_DIR...

Each RUN_DIR is a run with one point along z that wrote `vorticity` among its fields; of those the one nearest to TIME is drawn.
All are drawn on the colours of the first.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

import sys
from pathlib import Path

import numpy

from common import INK, field_files, nearest, number, plt, read_fields, summary


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    picture, time = Path(sys.argv[1]), number(sys.argv[2])
    runs = [Path(run) for run in sys.argv[3:]]
    figure, axes = plt.subplots(1, len(runs), figsize=(3.2 * len(runs), 3.9), squeeze=False, layout="constrained")
    largest = None
    for axis, run in zip(axes[0], runs):
        at, path = nearest(field_files(run), time)
        fields, spacing, origin = read_fields(path, ["vorticity"], closed=True)
        omega = fields["vorticity"][0, :, :, 2]
        largest = largest or abs(omega).max()
        edges = [origin[0], origin[0] + spacing[0] * (omega.shape[1] - 1)]
        edges += [origin[1], origin[1] + spacing[1] * (omega.shape[0] - 1)]
        # Even numbers of levels leave zero out, around which there is noise alone.
        levels = numpy.linspace(-largest, largest, 16)
        axis.imshow(omega, origin="lower", extent=edges, cmap="RdBu_r", vmin=-largest, vmax=largest)
        axis.contour(omega, levels=levels, extent=edges, colors=INK, linewidths=0.4)
        of = summary(run)
        words = of["scheme"]["filter"]
        axis.set_title(f"{of['points'][0]} x {of['points'][1]} points, t = {at:.2g}\nfilter: {words}", fontsize=9)
        axis.set_xticks([])
        axis.set_yticks([])
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main()
