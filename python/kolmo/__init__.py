"""Kolmo from Python: run direct numerical simulations of compressible flow, and read and plot their results.

    import kolmo

    # A case, a path or a dict; `__` in an argument is the dot of a key.
    run = kolmo.run("taylor-green", grid__points=[32, 32, 32], time__end=2, output__fields__every_time=0.5)
    run.series["dissipation"]            # pandas
    run.fields(time=1.0)["vorticity"]    # xarray, with coordinates
    run.plot.dissipation()               # matplotlib: pip install 'kolmo[plot]'

    kolmo.open("runs/taylor-green")      # an existing run

Everything is non-dimensional, in the scaling of the case: lengths in L, velocities in V₀, densities in ρ₀, times in L/V₀.
pandas, xarray, Zarr, matplotlib and PyVista are imported when they are first needed.
"""

from kolmo.errors import KolmoError
from kolmo.program import cases, config, converge, program, restart, run, verify
from kolmo.runs import Run, open

__all__ = [
    "KolmoError",
    "Run",
    "cases",
    "config",
    "converge",
    "open",
    "program",
    "restart",
    "run",
    "verify",
]
