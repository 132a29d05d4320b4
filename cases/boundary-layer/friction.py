"""The friction along the plate of a boundary layer, from the last fields of a run, beside that of Blasius.

    usage: friction.py RUN_DIR

The fields need velocity and temperature. Columns: x from where the layer comes in, C_f = 2 mu du/dy / Re at the plate,
0.664 / sqrt(Re_x), and the displacement thickness.
"""
import json
import pathlib
import sys
import tomllib

import numpy as np
import pyvista

run = pathlib.Path(sys.argv[1])
config = tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))
reynolds, law = config["case"]["reynolds"], config["gas"]["viscosity"]


def mu(t):
    if law == "constant":
        return np.ones_like(t)
    if law["law"] == "power":
        return t ** law["exponent"]
    return t**1.5 * (1 + law["temperature_ratio"]) / (t + law["temperature_ratio"])


index = next((run / "fields").glob("fields.*.series"))
last = json.loads(index.read_text(encoding="utf-8"))["files"][-1]["name"]
grid = pyvista.read(run / "fields" / last)
nx, ny, nz = grid.dimensions
mesh = grid.cast_to_structured_grid()
x, y = mesh.x[:, 0, 0], mesh.y[0, :, 0]
u = grid["velocity"][:, 0].reshape((nx, ny, nz), order="F").mean(axis=2)
t = grid["temperature"].reshape((nx, ny, nz), order="F").mean(axis=2)

# du/dy at the plate of the polynomial through five points.
near = (y[:5] - y[0]) / (y[4] - y[0])
weights = np.linalg.solve(np.vander(near, increasing=True).T, np.eye(5)[1]) / (y[4] - y[0])
friction = 2 * mu(t[:, 0]) * (u[:, :5] @ weights) / reynolds
displacement = np.trapezoid(1 - (u / t) / (u[:, -1:] / t[:, -1:]), y, axis=1)
# Where the displacement thickness is 1 at low Mach number: x = Re / (2 * 1.21678^2) from the leading edge.
edge = reynolds / (2 * 1.2167806**2)
blasius = 0.66411 / np.sqrt(reynolds * (edge + x - x[0]))
print("x,friction,blasius,displacement")
for row in zip(x, friction, blasius, displacement):
    print(",".join(f"{value:.6g}" for value in row))
