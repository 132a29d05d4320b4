"""Runs that the tests read: each is computed once, by the program that the package finds."""

import shutil
from pathlib import Path

import kolmo
import matplotlib
import pytest
from matplotlib import pyplot

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def isolated(tmp_path, monkeypatch):
    """Every test has a separate working directory, no GPU (whose results would differ), and no figures of other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    yield
    pyplot.close("all")


def make(tmp_path_factory, name, **keys):
    """A run of a few steps on few points that writes all kinds of output."""
    out = tmp_path_factory.mktemp("runs") / name
    keys = {"time": {"max_steps": 4, "cfl": 0.8}, "compute__backend": "cpu"} | keys
    keys |= {"output__fields": {"every_steps": 2, "variables": "all"}, "output__series": {"every_steps": 1}}
    return kolmo.run(name, keys.pop("changes", None), out=out, quiet=True, **keys)


@pytest.fixture(scope="session")
def vortex(tmp_path_factory):
    """A periodic box with different numbers of points along the axes, a passive scalar and statistics."""
    return make(
        tmp_path_factory,
        "taylor-green",
        grid__points=[14, 13, 12],
        changes={"scalars.dye": {"schmidt": 0.7, "start": "1 + sin(x)*cos(y)"}},
        output__planes={"every_steps": 4, "z": [0.0, 3.0], "variables": ["vorticity"]},
        output__statistics={
            "every_steps": 2,
            "quantities": ["moments", "spectra", "increments", "gradients", "turbulence"],
        },
        output__checkpoint={"every_steps": 2, "keep": 9},
    )


@pytest.fixture
def unfinished(vortex, tmp_path):
    """The files of the vortex before the run ends, with an incomplete last row of the series."""
    run = tmp_path / "unfinished"
    shutil.copytree(vortex.path, run, ignore=shutil.ignore_patterns("summary.json"))
    table = (run / "series.csv").read_bytes()
    (run / "series.csv").write_bytes(table[:-9])
    return kolmo.open(run)


@pytest.fixture(scope="session")
def channel(tmp_path_factory):
    """A channel with points clustered at the walls, profiles and a force."""
    return make(
        tmp_path_factory,
        "channel",
        grid={"points": [12, 25, 10], "stretching": {"y": {"map": "tanh", "factor": 2.0}}},
        output__statistics={"every_steps": 2, "quantities": ["profiles"]},
    )


@pytest.fixture(scope="session")
def cylinder(tmp_path_factory):
    """A curvilinear grid around a body."""
    return make(tmp_path_factory, "cylinder", grid__points=[48, 25, 1])
