#!/usr/bin/env python3
"""Extract the data of a run for the tables of docs/validation.md, to standard output. The second form needs postprocess/requirements.txt.

    history.py SERIES_CSV                   the history of a run, thinned
    history.py RUN_DIR --robustness START   one row of robustness.csv
"""

import argparse
import csv
import json
import pathlib
import sys

COLUMNS = ["time", "kinetic_energy", "dissipation", "pressure_dilatation", "ke_rate", "enstrophy"]
INTERVAL = 0.05


def history(path):
    """Print rows of the series about every INTERVAL, including first and last."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    print(",".join(COLUMNS))
    due = 0.0
    for row in rows:
        if float(row["time"]) >= due or row is rows[-1]:
            print(",".join(f"{float(row[name]):.9g}" for name in COLUMNS))
            due = float(row["time"]) + INTERVAL


def robustness(run, start):
    """Print points, Ma, Re, start, forms, final time, whether the run finished, and the final kinetic energy and rms density."""
    summary = json.loads((run / "summary.json").read_text())
    with open(run / "series.csv", newline="") as file:
        last = list(csv.DictReader(file))[-1]
    scheme = summary["scheme"]
    finished = summary["finished"]
    rms = rms_density(run) if finished else float("nan")
    energy = float(last["kinetic_energy"]) if finished else float("nan")
    reynolds = summary["reynolds"] or "inf"
    print(
        f"{summary['points'][0]},{summary['mach']:g},{reynolds},{start},{scheme['convection']},{scheme['energy']},"
        f"{summary['end_time']:.2f},{finished},{energy:.4f},{rms:.4f}"
    )


def rms_density(run):
    """Return the square root of the variance of the density in the last fields written."""
    sys.path.append(str(pathlib.Path(__file__).parent.parent / "postprocess"))
    from common import kolmo

    return float(kolmo.open(run).fields(names="density")["density"].std())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--robustness", metavar="START")
    options = parser.parse_args()
    if options.robustness:
        robustness(options.path, options.robustness)
    else:
        history(options.path)


if __name__ == "__main__":
    main()
