"""Growth rates between boundaries."""

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
def test_between_these_ends_waves_hardly_grow(stability, family):
    """Rows of the sources that are read as others, and a pressure gradient that vanishes along a face at Ma 1."""
    rates = {name: stability.largest(family, [33], *case) for name, case in stability.CASES.items()}
    grows = rates.pop("far fields, oblique stream, tanh 2 where gas enters")
    assert 0.3 < grows < 0.6 and max(rates.values()) < 0.06, rates


def test_taylor_rows_grow_where_points_are_clustered(stability, monkeypatch):
    """Rows at open faces that are always those of walls."""
    case = ("inflow", "outflow", [(0.5, 0)], (1, "low"))
    rate = stability.largest("compact6", [33], *case)
    monkeypatch.setattr(stability, "closure", lambda family, _, read=stability.closure: read(family, False))
    assert rate < 0.02 and stability.largest("compact6", [33], *case) > 3.0


@pytest.mark.parametrize("family, rate", [("explicit8", 0.82), ("compact6", 0.41)])
def test_another_derivative_at_a_face_grows_where_points_are_clustered(stability, monkeypatch, family, rate):
    """A table that does not see which derivative an open face uses."""
    five = stability.np.array([19 / 12, -2, 0, 2 / 3, -1 / 4] + (stability.POINTS - 5) * [0.0])
    monkeypatch.setattr(stability, "cut", lambda row: -five * (row @ stability.np.arange(len(row))))
    assert abs(stability.largest(family, [33], *stability.CASES["inflow, outflow, tanh 2 at the outflow"]) - rate) < 0.01


def test_too_few_points_are_told():
    few = subprocess.run([sys.executable, SCRIPT, "9"], capture_output=True, text=True)
    assert few.returncode == 1 and few.stderr == "error: the rows of both ends need 24 points\n"
