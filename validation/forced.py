#!/usr/bin/env python3
"""Write a row of validation/histories/forced.csv from a forced run. Standard library only.

    forced.py                     the names of the columns
    forced.py RUN_DIR NAME FROM   averages over time from FROM on
"""

import argparse
import csv
import json
import math
import pathlib

COLUMNS = [
    "name",
    "from",
    "to",
    "turnovers",
    "energy",
    "energy_rms",
    "energy_off",
    "power",
    "dissipation",
    "length",
    "re_lambda",
    "kmax_eta",
    "skewness",
    "skewness_rms",
    "total_energy_off",
    "momentum_off",
    "budget",
]


def read(path):
    with open(path, newline="") as file:
        return [{key: value for key, value in row.items()} for row in csv.DictReader(file)]


def mean(rows, value):
    """Average over time by the trapezoidal rule."""
    times = [float(row["time"]) for row in rows]
    values = [value(row) for row in rows]
    area = sum(0.5 * (b - a) * (p + q) for a, b, p, q in zip(times, times[1:], values, values[1:]))
    return area / (times[-1] - times[0])


def row(run, name, start):
    run = pathlib.Path(run)
    summary = json.loads((run / "summary.json").read_text())
    series = read(run / "series.csv")
    late = [r for r in series if float(r["time"]) >= start]

    def of(column):
        return lambda r: float(r[column])

    energy = mean(late, of("kinetic_energy"))
    rms = math.sqrt(mean(late, lambda r: (float(r["kinetic_energy"]) - energy) ** 2)) / energy
    first = float(series[0]["kinetic_energy"])
    deviation = max(abs(float(r["kinetic_energy"]) / first - 1.0) for r in late)
    power, dissipation = mean(late, of("forcing_power")), mean(late, of("dissipation"))
    speed = math.sqrt(2.0 * energy / 3.0)
    nu = 1.0 / summary["reynolds"]
    turnover = 0.19 * summary["length"][0] / speed
    total = float(series[0]["total_energy"])
    rates = ["convection", "pressure", "viscous", "filter", "forcing"]
    residual = max(abs(float(r["ke_rate"]) - sum(float(r[f"ke_rate_{term}"]) for term in rates)) for r in late)
    gradients = [r for r in read(run / "statistics" / "gradient_moments.csv") if r["quantity"] == "longitudinal"]
    gradients = [r for r in gradients if float(r["time"]) >= start]
    skewness = mean(gradients, of("skewness"))
    momentum = [max(abs(float(r[f"momentum_{axis}"]) - float(series[0][f"momentum_{axis}"])) for r in series) for axis in "xyz"]
    values = [
        start,
        float(late[-1]["time"]),
        (float(late[-1]["time"]) - start) / turnover,
        energy,
        rms,
        deviation,
        power,
        dissipation,
        speed**3 / dissipation / summary["length"][0],
        speed * math.sqrt(15.0 * nu * speed**2 / dissipation) / nu,
        summary["resolution"]["kmax_eta_min"],
        skewness,
        math.sqrt(mean(gradients, lambda r: (float(r["skewness"]) - skewness) ** 2)),
        max(abs(float(r["total_energy"]) / total - 1.0) for r in series),
        max(momentum),
        residual / max(abs(float(r["ke_rate_forcing"])) for r in late),
    ]
    print(",".join([name, *(f"{value:.6g}" for value in values)]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", metavar="RUN_DIR NAME FROM", nargs="*")
    words = parser.parse_args().words
    if not words:
        print(",".join(COLUMNS))
    elif len(words) == 3:
        row(words[0], words[1], float(words[2]))
    else:
        parser.error(f"{len(words)} arguments; allowed: none, or RUN_DIR NAME FROM")


if __name__ == "__main__":
    main()
