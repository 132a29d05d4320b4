"""Growth rates between boundaries."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "validation/stability.py"


def test_rows_of_walls_are_read_and_walls_are_stable():
    """Rows of the sources that are read as others, and a table that does not tell stable ends from unstable ones."""
    said = subprocess.run([sys.executable, SCRIPT, "33"], capture_output=True, text=True, check=True).stdout
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in said.splitlines()]
    rates = {name: list(map(float, cells)) for name, *cells in table[2:]}
    assert len(table[0]) == 7 and all(len(row) == 6 for row in rates.values())
    for stable in ("isothermal walls", "adiabatic walls", "wall, outflow, tanh 2 at the wall", "inflow, outflow", "far fields"):
        assert rates[stable] == [0.0] * 6, stable
    # Summation by parts at one end alone: compact6 on 33 points.
    assert abs(rates["wall, outflow"][4] - 0.93) < 0.01
    few = subprocess.run([sys.executable, SCRIPT, "9"], capture_output=True, text=True)
    assert few.returncode == 1 and few.stderr == "error: the rows of both ends need 24 points\n"
