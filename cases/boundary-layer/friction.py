"""Friction along the plate of a boundary layer, from the last fields of a run, and the Blasius solution.

    usage: friction.py RUN_DIR

The fields need velocity and temperature. Columns: x from the inflow, C_f = 2 mu du/dy / Re at the plate,
0.664 / sqrt(Re_x), and the displacement thickness.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "postprocess"))
from common import kolmo, script  # noqa: E402

import numpy as np  # noqa: E402


def viscosity(t, law):
    """mu / mu_0 at the temperature `t`."""
    if law == "constant":
        return np.ones_like(t)
    if law["law"] == "power":
        return t ** law["exponent"]
    return t**1.5 * (1 + law["temperature_ratio"]) / (t + law["temperature_ratio"])


def main(directory):
    run = kolmo.open(directory)
    reynolds = run.config["case"]["reynolds"]
    fields = run.fields(names=["velocity", "temperature"]).mean("z")
    x, y = fields.x.values, fields.y.values
    u, t = fields["velocity"].isel(component=0).values.T, fields["temperature"].values.T

    # du/dy at the plate from the polynomial through five points.
    near = (y[:5] - y[0]) / (y[4] - y[0])
    weights = np.linalg.solve(np.vander(near, increasing=True).T, np.eye(5)[1]) / (y[4] - y[0])
    friction = 2 * viscosity(t[:, 0], run.config["gas"]["viscosity"]) * (u[:, :5] @ weights) / reynolds
    displacement = np.trapezoid(1 - (u / t) / (u[:, -1:] / t[:, -1:]), y, axis=1)
    # Where the displacement thickness is 1 at low Mach number: x = Re / (2 * 1.21678^2) from the leading edge.
    edge = reynolds / (2 * 1.2167806**2)
    blasius = 0.66411 / np.sqrt(reynolds * (edge + x - x[0]))
    print("x,friction,blasius,displacement")
    for row in zip(x, friction, blasius, displacement):
        print(",".join(f"{value:.6g}" for value in row))


if __name__ == "__main__":
    script(main, __doc__, 1, 1)
