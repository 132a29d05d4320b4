"""Compare a turbulent channel with direct numerical simulations of incompressible flow at Re_tau = 180. Standard library only.

RUN_DIR is a run of the case with profiles averaged over time. Prints a line of Markdown for each quantity: value of the run and expected
range; stops with an error if a value is out of its range. The ranges allow for a small box, a coarse grid and a short average.

Rounded values of Kim, Moin and Moser (1987) and Moser, Kim and Mansour (1999), Re_tau = 178: bulk velocity 15.6 u_tau, centreline
velocity 18.3 u_tau; peak of the rms of u 2.65 at y+ = 15, of v 0.84, of w 1.07; peak of -<u'v'> 0.72 at y+ = 30. The mean velocity is
compared with the law of Reichardt (1951), which is within 3 % of theirs.
"""

import argparse
import csv
import math
import sys
from pathlib import Path


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def reichardt(y):
    inner = 1.0 - math.exp(-y / 11.0) - y / 11.0 * math.exp(-y / 3.0)
    return math.log(1.0 + 0.41 * y) / 0.41 + 7.8 * inner


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN_DIR", type=Path)
    run = parser.parse_args().run
    table = rows(run / "statistics" / "profiles.csv")
    last = [
        {key: float(value) for key, value in row.items()} for row in table if row["time"] == table[-1]["time"]
    ]
    series = rows(run / "series.csv")
    n = len(last)
    # Average of both halves, in units of the mean stress at both walls.
    stress = 0.5 * (abs(last[0]["total_stress"]) + abs(last[-1]["total_stress"]))
    u_tau = math.sqrt(stress)
    re_tau = u_tau / last[0]["viscosity"]

    def both(name, odd=False):
        sign = -1.0 if odd else 1.0
        return [0.5 * (last[j][name] + sign * last[n - 1 - j][name]) for j in range((n + 1) // 2)]

    y = [(last[j]["coordinate"] - last[0]["coordinate"]) * re_tau for j in range((n + 1) // 2)]
    u = [value / u_tau for value in both("velocity_x")]
    rms = {axis: [math.sqrt(max(value, 0.0)) / u_tau for value in both(f"reynolds_stress_{axis}{axis}")] for axis in "xyz"}
    shear = [-value / stress for value in both("reynolds_stress_xy", odd=True)]
    total = [value / stress for value in both("total_stress", odd=True)]
    mean_deviation = max(abs(a / reichardt(at) - 1.0) for at, a in zip(y, u) if at > 3.0)
    total_deviation = max(abs(value - (1.0 - at / re_tau)) for at, value in zip(y, total))
    peak = max(range(len(y)), key=lambda j: rms["x"][j])
    drift = max(abs(float(row["momentum_x"]) - 1.0) for row in series)
    checks = [
        ("Re_τ", re_tau, 178, 140, 220),
        ("time averaged over", last[0]["weight"], "", 10, math.inf),
        ("u⁺ in the middle", u[-1], 18.3, 15.5, 21.0),
        ("largest deviation of u⁺ from Reichardt's law beyond y⁺ = 3", mean_deviation, 0, 0, 0.2),
        ("peak of the rms of u", rms["x"][peak], 2.65, 2.2, 3.4),
        ("at y⁺", y[peak], 15, 8, 25),
        ("peak of the rms of v", max(rms["y"]), 0.84, 0.55, 1.1),
        ("peak of the rms of w", max(rms["z"]), 1.07, 0.75, 1.5),
        ("peak of −⟨u'v'⟩⁺", max(shear), 0.72, 0.55, 0.9),
        ("largest deviation of the total stress from a straight line", total_deviation, 0, 0, 0.25),
        ("largest deviation of the mass flux", drift, 0, 0, 1e-4),
    ]
    print("| | this run | reference |\n|---|---|---|")
    for name, found, expected, *_ in checks:
        print(f"| {name} | {found:.3g} | {expected} |")
    failed = [name for name, found, _, low, high in checks if not low <= found <= high]
    if failed:
        sys.exit("out of range: " + "; ".join(failed))


if __name__ == "__main__":
    main()
