#!/usr/bin/env python3
"""Write validation/histories/isotropic.csv: the same decaying turbulence on several grids. Standard library only.

The runs compute the same flow, the finest grid last, with rows at the same times.
"""

import argparse
import csv
import json
import pathlib
import sys

# Quantities whose largest difference from the finest grid is reported, relative to the largest value on that grid.
QUANTITIES = ["kinetic_energy", "enstrophy", "dissipation"]
COLUMNS = ["points", *(f"{name}_off" for name in QUANTITIES), "enstrophy_growth", "skewness", "kmax_eta"]


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def column(rows, name):
    return [float(row[name]) for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", metavar="RUN_DIR", nargs="+", type=pathlib.Path)
    runs = parser.parse_args().runs
    finest = read(runs[-1] / "series.csv")
    print(",".join(COLUMNS))
    for run in runs:
        series, summary = read(run / "series.csv"), json.loads((run / "summary.json").read_text())
        times = [round(time, 9) for time in column(series, "time")]
        if times != [round(time, 9) for time in column(finest, "time")]:
            sys.exit(f"{run}: rows at other times than {runs[-1]}")
        deviations = []
        for name in QUANTITIES:
            own, fine = column(series, name), column(finest, name)
            deviations.append(max(abs(a - b) for a, b in zip(own, fine)) / max(fine))
        enstrophy = column(series, "enstrophy")
        skewness = column(read(run / "statistics" / "turbulence.csv"), "skewness")[-1]
        row = [summary["points"][0], *deviations, max(enstrophy) / enstrophy[0], skewness, summary["resolution"]["kmax_eta_min"]]
        print(",".join(f"{value:.6g}" for value in row))


if __name__ == "__main__":
    main()
