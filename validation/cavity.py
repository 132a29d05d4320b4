"""Compare the lid-driven cavity with tables of the velocity on the lines through the centre of the box: of Ghia, Ghia and Shin (1982), by
finite differences on 129 x 129 points, and at Re = 1000 of Botella and Peyret (1998), by a spectral method with the singular part at the
corners subtracted. The two differ by up to 0.0185 at Re = 1000 (v at x = 0.9453), the error of the tables of Ghia et al.

    usage: cavity.py REYNOLDS RUN_DIR...

Each RUN_DIR is a run of the case on an odd number of points that wrote the field `velocity`; the last time is used. Prints a line of
Markdown for each table: points, largest deviations of u and v in units of the velocity of the lid, loss of mass.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "postprocess"))
from common import kolmo, script  # noqa: E402

import numpy  # noqa: E402

# Coordinates of both tables, u on x = 1/2 and v on y = 1/2.
Y = [0.0547, 0.0625, 0.0703, 0.1016, 0.1719, 0.2813, 0.4531, 0.5, 0.6172, 0.7344, 0.8516, 0.9531, 0.9609, 0.9688, 0.9766]
X = [0.0625, 0.0703, 0.0781, 0.0938, 0.1563, 0.2266, 0.2344, 0.5, 0.8047, 0.8594, 0.9063, 0.9453, 0.9531, 0.9609, 0.9688]
TABLES = {
    "100": {
        "Ghia": (
            [-0.03717, -0.04192, -0.04775, -0.06434, -0.10150, -0.15662, -0.21090, -0.20581, -0.13641, 0.00332, 0.23151, 0.68717,
             0.73722, 0.78871, 0.84123],
            [0.09233, 0.10091, 0.10890, 0.12317, 0.16077, 0.17507, 0.17527, 0.05454, -0.24533, -0.22445, -0.16914, -0.10313,
             -0.08864, -0.07391, -0.05906],
        ),
    },
    "1000": {
        "Ghia": (
            [-0.18109, -0.20196, -0.22220, -0.29730, -0.38289, -0.27805, -0.10648, -0.06080, 0.05702, 0.18719, 0.33304, 0.46604,
             0.51117, 0.57492, 0.65928],
            [0.27485, 0.29012, 0.30353, 0.32627, 0.37095, 0.33075, 0.32235, 0.02526, -0.31966, -0.42665, -0.51550, -0.39188,
             -0.33714, -0.27669, -0.21388],
        ),
        "Botella": (
            [-0.1812881, -0.2023300, -0.2228955, -0.3004561, -0.3885691, -0.2803696, -0.1081999, -0.0620561, 0.0570178, 0.1886747,
             0.3372212, 0.4723329, 0.5169277, 0.5808359, 0.6644227],
            [0.2807056, 0.2962703, 0.3099097, 0.3330442, 0.3769189, 0.3339924, 0.3253592, 0.0257995, -0.3202137, -0.4264545,
             -0.5264392, -0.4103754, -0.3553213, -0.2936869, -0.2279225],
        ),
    },
}


def interpolated(points, values, at):
    """Interpolate to each of `at` by the polynomial through the four surrounding points."""
    found = []
    for x in at:
        first = min(max(int(numpy.searchsorted(points, x)) - 2, 0), len(points) - 4)
        near, own = points[first:first + 4], values[first:first + 4]
        weights = [numpy.prod([(x - b) / (a - b) for b in near if b != a]) for a in near]
        found.append(numpy.dot(weights, own))
    return numpy.array(found)


def main(reynolds, *directories):
    if reynolds not in TABLES:
        raise kolmo.KolmoError(f"there is no table for REYNOLDS = {reynolds}; allowed: {', '.join(TABLES)}")
    for run in map(kolmo.open, directories):
        velocity = run.fields(names="velocity")["velocity"].isel(z=0)
        n = velocity.sizes["y"]
        u = interpolated(velocity.y.values, velocity.isel(x=n // 2, component=0).values, Y)
        v = interpolated(velocity.x.values, velocity.isel(y=n // 2, component=1).values, X)
        mass = run.series["mass"]
        loss = mass.iloc[0] - mass.iloc[-1]
        for name, table in TABLES[reynolds].items():
            deviations = [abs(found - expected).max() for found, expected in zip((u, v), table)]
            print(f"| {reynolds} | {n}² | {name} | {deviations[0]:.4f} | {deviations[1]:.4f} | {100 * loss:.2f} % |")


if __name__ == "__main__":
    script(main, __doc__, 2)
