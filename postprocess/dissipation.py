"""Draw the dissipation of a run over time, what the kinetic energy loses, and the reference.

    usage: dissipation.py RUN_DIR PICTURE.png

RUN_DIR is a run of a flow with viscosity. The dissipation from gradients, < tau : grad u >, and what the kinetic energy
loses, -dE/dt + < p div u >, are the same but for what the scheme dissipates, which is drawn below. The curve of
`reference.csv` is drawn where the run has one.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

import sys
from pathlib import Path

import pandas

from common import INK, REFERENCE, RUN, plt, summary, title


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    run, picture = Path(sys.argv[1]), Path(sys.argv[2])
    of = summary(run)
    series = pandas.read_csv(run / "series.csv")
    if "dissipation" not in series.columns:
        sys.exit(f"error: {run} is a run of a scalar, which has no dissipation")
    loss = series["pressure_dilatation"] - series["ke_rate"]

    figure, (curves, scheme) = plt.subplots(
        2, 1, figsize=(7, 6.5), sharex=True, height_ratios=(3, 1), layout="constrained"
    )
    figure.suptitle(title(of))
    curves.plot(series["time"], series["dissipation"], color=RUN, label="from gradients")
    curves.plot(series["time"], loss, color=REFERENCE, linestyle="--", label="from the energy")
    if (run / "reference.csv").exists():
        reference = pandas.read_csv(run / "reference.csv", comment="#")
        reference = reference[reference["time"] <= series["time"].max()]
        style = {"color": INK, "linestyle": "none", "marker": "o", "markersize": 4, "markerfacecolor": "none"}
        every = max(1, len(reference) // 40)
        curves.plot(reference["time"][::every], reference["dissipation"][::every], label="reference", **style)
    curves.set(ylabel="dissipation", ylim=(0, None), xlim=(0, series["time"].max()))
    curves.legend(frameon=False)
    scheme.plot(series["time"], loss - series["dissipation"], color=RUN)
    scheme.axhline(0, color=INK, linewidth=0.8)
    scheme.set(xlabel="time", ylabel="of the scheme")
    for axes in (curves, scheme):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main()
