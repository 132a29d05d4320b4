"""Draw the spectra of a run on logarithmic axes, with the slope of the inertial range and the reference.

    usage: spectra.py RUN_DIR PICTURE.png [TIME ...]

RUN_DIR is a run with `statistics/spectra.csv`, a table with the columns step, time, k, modes and energy (or scalar). Those
nearest to each TIME are drawn, the last three where none is given, and `reference_spectrum.csv` where it is there. Below them
stands the same multiplied by k^(5/3), which is level in an inertial range.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

import sys
from pathlib import Path

import pandas
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

from common import COLOURS, INK, nearest, number, plt, summary, title

# Shells below this part of the largest one hold round-off.
FLOOR = 1e-12


def reference(run):
    """k, energy and the time of `reference_spectrum.csv`; None where it is not there."""
    path = run / "reference_spectrum.csv"
    if not path.exists():
        return None
    comments = [line[1:].strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    times = [line[4:].strip(" :=") for line in comments if line.startswith("time")]
    return pandas.read_csv(path, comment="#"), float(times[0])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    run, picture = Path(sys.argv[1]), Path(sys.argv[2])
    path = run / "statistics/spectra.csv"
    if not path.exists():
        sys.exit(f"error: {run} has no statistics/spectra.csv; set output.statistics")
    table = pandas.read_csv(path)
    quantity = "energy" if "energy" in table.columns else "scalar"
    times = [(time, rows) for time, rows in table.groupby("time")]
    if not times:
        sys.exit(f"error: {path} has no rows")
    asked = [number(text) for text in sys.argv[3:]]
    shown = [nearest(times, time) for time in asked] if asked else times[-3:]

    figure, (plain, compensated) = plt.subplots(2, 1, figsize=(7, 8), sharex=True, layout="constrained")
    figure.suptitle(title(summary(run)))
    for (time, rows), colour in zip(shown, COLOURS):
        rows = rows[(rows["k"] > 0) & (rows[quantity] > FLOOR * rows[quantity].max())]
        plain.loglog(rows["k"], rows[quantity], color=colour, label=f"t = {time:g}")
        compensated.loglog(rows["k"], rows[quantity] * rows["k"] ** (5 / 3), color=colour)
    found = reference(run) if quantity == "energy" else None
    if found:
        rows, time = found
        rows = rows[rows["k"] <= table["k"].max()]
        style = {"color": INK, "linestyle": "none", "marker": "o", "markersize": 4, "markerfacecolor": "none"}
        plain.loglog(rows["k"], rows["energy"], label=f"reference, t = {time:g}", **style)
        compensated.loglog(rows["k"], rows["energy"] * rows["k"] ** (5 / 3), **style)
    largest = max(rows[quantity].max() for _, rows in shown)
    last = table["k"].max()
    if largest > 0 and last > 2:
        k = [2, min(20, last)]
        plain.loglog(k, [2 * largest * (x / 2) ** (-5 / 3) for x in k], color=INK, linewidth=0.8, label="slope -5/3")
    name = "E" if quantity == "energy" else "scalar"
    plain.set(ylabel=f"{name}(k)")
    compensated.set(xlabel="wavenumber k", ylabel=f"k^(5/3) {name}(k)")
    compensated.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    compensated.xaxis.set_major_formatter(ScalarFormatter())
    compensated.xaxis.set_minor_formatter(NullFormatter())
    plain.legend(frameon=False)
    for axes in (plain, compensated):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main()
