"""Growth rates of waves between boundaries, by `validation/stability.py`."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "validation/stability.py"


@pytest.fixture(scope="module")
def stability():
    spec = importlib.util.spec_from_file_location("stability", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("family", ["explicit8", "compact6"])
def test_waves_between_boundaries_hardly_grow(stability, family):
    """Catches wrong parsing of the boundary rows in the sources, and a pressure gradient along a face that vanishes at Ma 1."""
    rates = {name: stability.largest(family, [33], *case) for name, case in stability.CASES.items()}
    grows = rates.pop("far fields, oblique stream, tanh 2 where gas enters")
    assert 0.3 < grows < 0.6 and max(rates.values()) < 0.06, rates


def test_waves_grow_with_taylor_rows_where_points_are_clustered(stability, monkeypatch):
    """Catches boundary rows at open faces that are always those of walls."""
    case = ("inflow", "outflow", [(0.5, 0)], (1, "low"))
    rate = stability.largest("compact6", [33], *case)
    monkeypatch.setattr(stability, "closure", lambda family, _, read=stability.closure: read(family, False))
    assert rate < 0.02 and stability.largest("compact6", [33], *case) > 3.0


@pytest.mark.parametrize("family, rate", [("explicit8", 0.82), ("compact6", 0.41)])
def test_waves_grow_with_a_five_point_derivative_at_a_face(stability, monkeypatch, family, rate):
    """Catches a growth rate that does not depend on the derivative used at an open face."""
    five = stability.np.array([19 / 12, -2, 0, 2 / 3, -1 / 4] + (stability.POINTS - 5) * [0.0])
    monkeypatch.setattr(stability, "truncated", lambda row: -five * (row @ stability.np.arange(len(row))))
    assert abs(stability.largest(family, [33], *stability.CASES["inflow, outflow, tanh 2 at the outflow"]) - rate) < 0.01


def test_too_few_points_are_reported():
    few = subprocess.run([sys.executable, SCRIPT, "9"], capture_output=True, text=True)
    assert few.returncode == 1 and few.stderr == "error: the rows of both ends need 24 points\n"
