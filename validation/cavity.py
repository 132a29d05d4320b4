"""The lid-driven cavity against the tables of Ghia, Ghia and Shin (1982): the velocity on the lines through the centre of the box.

    usage: cavity.py REYNOLDS RUN_DIR...

Each RUN_DIR is a run of the case on an odd number of points that wrote `velocity` among its fields; the last is taken. Prints a line of
Markdown for each: points, largest deviations of u and v in units of the lid's velocity, mass lost.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

import csv
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "postprocess"))
from common import field_files, read_fields  # noqa: E402

# Coordinates of their tables I and II, and u on x = 1/2, v on y = 1/2.
Y = [0.0547, 0.0625, 0.0703, 0.1016, 0.1719, 0.2813, 0.4531, 0.5, 0.6172, 0.7344, 0.8516, 0.9531, 0.9609, 0.9688, 0.9766]
X = [0.0625, 0.0703, 0.0781, 0.0938, 0.1563, 0.2266, 0.2344, 0.5, 0.8047, 0.8594, 0.9063, 0.9453, 0.9531, 0.9609, 0.9688]
U = {
    100: [-0.03717, -0.04192, -0.04775, -0.06434, -0.10150, -0.15662, -0.21090, -0.20581, -0.13641, 0.00332, 0.23151, 0.68717,
          0.73722, 0.78871, 0.84123],
    1000: [-0.18109, -0.20196, -0.22220, -0.29730, -0.38289, -0.27805, -0.10648, -0.06080, 0.05702, 0.18719, 0.33304, 0.46604,
           0.51117, 0.57492, 0.65928],
}
V = {
    100: [0.09233, 0.10091, 0.10890, 0.12317, 0.16077, 0.17507, 0.17527, 0.05454, -0.24533, -0.22445, -0.16914, -0.10313,
          -0.08864, -0.07391, -0.05906],
    1000: [0.27485, 0.29012, 0.30353, 0.32627, 0.37095, 0.33075, 0.32235, 0.02526, -0.31966, -0.42665, -0.51550, -0.39188,
           -0.33714, -0.27669, -0.21388],
}


def through(points, values, at):
    """The polynomial through the four points about each of `at`."""
    found = []
    for x in at:
        first = min(max(int(numpy.searchsorted(points, x)) - 2, 0), len(points) - 4)
        near, own = points[first:first + 4], values[first:first + 4]
        weights = [numpy.prod([(x - b) / (a - b) for b in near if b != a]) for a in near]
        found.append(numpy.dot(weights, own))
    return numpy.array(found)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    reynolds = int(sys.argv[1])
    for run in map(Path, sys.argv[2:]):
        _, path = sorted(field_files(run))[-1]
        velocity = read_fields(path, ["velocity"])[0]["velocity"][0]
        n = velocity.shape[0]
        line = numpy.linspace(0.0, 1.0, n)
        u = through(line, velocity[:, n // 2, 0], Y) - U[reynolds]
        v = through(line, velocity[n // 2, :, 1], X) - V[reynolds]
        with open(run / "series.csv") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        lost = float(rows[0]["mass"]) - float(rows[-1]["mass"])
        print(f"| {reynolds} | {n}² | {abs(u).max():.4f} | {abs(v).max():.4f} | {100 * lost:.2f} % |")


if __name__ == "__main__":
    main()
