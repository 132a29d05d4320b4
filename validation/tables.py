#!/usr/bin/env python3
"""Write the tables of docs/validation.md from validation/histories. Standard library only.

The page has a pair of comments for each table, `<!-- table: NAME -->` and `<!-- end -->`; the text between them is replaced.
"""

import argparse
import csv
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
HISTORIES = ROOT / "validation" / "histories"
PAGE = ROOT / "docs" / "validation.md"
REFERENCE = ROOT / "cases" / "taylor-green" / "reference" / "re1600-incompressible.csv"


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def interpolate(rows, name, t):
    """Interpolate by the cubic through the four nearest rows."""
    times = [float(row["time"]) for row in rows]
    after = next((i for i, time in enumerate(times) if time >= t), len(times) - 1)
    first = min(max(after - 2, 0), len(times) - 4)
    total = 0.0
    for i in range(first, first + 4):
        weight = math.prod((t - times[j]) / (times[i] - times[j]) for j in range(first, first + 4) if j != i)
        total += weight * float(rows[i][name])
    return total


def resolution():
    reference = read(REFERENCE)
    peak = max(float(row["dissipation"]) for row in reference)
    lines = [
        "| points | kinetic energy | −dE/dt + ⟨p div u⟩ | dissipation | gap |",
        "|---|---|---|---|---|",
    ]
    for n in (32, 48, 64, 96, 128):
        path = HISTORIES / f"re1600-ma0.1-{n}.csv"
        deviations = []
        for row in read(path):
            row = {name: float(value) for name, value in row.items()}
            exact = interpolate(reference, "dissipation", row["time"])
            loss = row["pressure_dilatation"] - row["ke_rate"]
            energy = (row["kinetic_energy"] - interpolate(reference, "kinetic_energy", row["time"])) / 0.125
            deviations.append((energy, (loss - exact) / peak, (row["dissipation"] - exact) / peak, (loss - row["dissipation"]) / peak))
        cells = []
        for column in zip(*deviations):
            largest = max(abs(x) for x in column)
            rms = math.sqrt(sum(x * x for x in column) / len(column))
            cells.append(f"{100 * largest:.2f} % / {100 * rms:.2f} %")
        lines.append(f"| {n}³ | " + " | ".join(cells) + " |")
    return lines


def robustness():
    forms = [
        ("divergence", "divergence"),
        ("feiereisen", "divergence"),
        ("feiereisen", "split-enthalpy"),
        ("kennedy-gruber", "divergence"),
        ("kennedy-gruber", "split-pressure"),
        ("staggered", "divergence"),
        ("staggered", "split-pressure"),
    ]
    rows = read(HISTORIES / "robustness.csv")
    flows = list(dict.fromkeys((row["points"], row["mach"], row["reynolds"], row["start"]) for row in rows))
    lines = [
        "| points | Ma | Re | start | " + " | ".join(f"{convection}, {energy}" for convection, energy in forms) + " |",
        "|---" * (4 + len(forms)) + "|",
    ]
    for flow in flows:
        cells = []
        for form in forms:
            match = [row for row in rows if (row["points"], row["mach"], row["reynolds"], row["start"], row["convection"], row["energy"]) == (*flow, *form)]
            if not match:
                cells.append("–")
            elif match[0]["finished"] == "True":
                cells.append(f"ok ({match[0]['kinetic_energy']}, {match[0]['rms_density']})")
            else:
                cells.append(match[0]["end_time"])
        lines.append(f"| {flow[0]}³ | {flow[1]} | {flow[2].removesuffix('.0')} | {flow[3].removeprefix('constant-')} | " + " | ".join(cells) + " |")
    return lines


def forced():
    names = {
        "constant-energy": "linear, constant energy",
        "coefficient": "linear, A = 0.08",
        "stochastic": "stochastic",
    }
    lines = [
        "| force | turnovers | energy | fluctuation | power | dissipation | u'³/ε𝓛 | Re_λ | kmax η | skewness |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in read(HISTORIES / "forced.csv"):
        value = {key: float(text) for key, text in row.items() if key != "name"}
        cells = [
            names[row["name"]],
            f"{value['turnovers']:.1f}",
            f"{value['energy']:.4f}",
            f"{100 * value['energy_rms']:.2f} %",
            f"{value['power']:.5f}",
            f"{value['dissipation']:.5f}",
            f"{value['length']:.3f}",
            f"{value['re_lambda']:.1f}",
            f"{math.floor(100 * value['kmax_eta']) / 100}",
            f"−{abs(value['skewness']):.2f} ± {value['skewness_rms']:.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def isotropic():
    lines = [
        "| points | kinetic energy | enstrophy | dissipation | growth of the enstrophy | skewness at the end | kmax η |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in read(HISTORIES / "isotropic.csv"):
        value = {key: float(text) for key, text in row.items()}
        deviations = [value[f"{name}_off"] for name in ("kinetic_energy", "enstrophy", "dissipation")]
        deviations = [f"{100 * x:.2g} %" if x > 0 else "–" for x in deviations]
        rest = [f"{value['enstrophy_growth']:.4f}", f"−{abs(value['skewness']):.3f}", f"{math.floor(100 * value['kmax_eta']) / 100}"]
        lines.append(f"| {row['points']}³ | " + " | ".join(deviations + rest) + " |")
    return lines


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    page = PAGE.read_text()
    tables = {"resolution": resolution(), "robustness": robustness(), "forced": forced(), "isotropic": isotropic()}
    for name, table in tables.items():
        start = page.index(f"<!-- table: {name} -->")
        end = page.index("<!-- end -->", start)
        page = page[:start] + f"<!-- table: {name} -->\n\n" + "\n".join(table) + "\n\n" + page[end:]
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
