"""The scripts of `postprocess/`, `validation/` and `cases/`."""

import importlib.util
import subprocess
import sys

import kolmo
import pytest
from conftest import ROOT

FOLDERS = ("postprocess/*.py", "validation/*.py", "cases/*/*.py")
SCRIPTS = sorted(str(path.relative_to(ROOT)) for folder in FOLDERS for path in ROOT.glob(folder))


@pytest.fixture
def load(monkeypatch):
    """Imports a script, with the modules of `postprocess/` importable."""
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.syspath_prepend(ROOT / "postprocess")

    def load(name):
        spec = importlib.util.spec_from_file_location("script", ROOT / name)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


# The packages of `incompressible.py` are not in the requirements.
@pytest.mark.parametrize("name", [name for name in SCRIPTS if not name.endswith("incompressible.py")])
def test_every_script_can_be_imported(name, load):
    """Catches a name that was removed from the package or from `common`: a script would fail after hours of runs."""
    load(name)


@pytest.mark.parametrize("name", [name for name in SCRIPTS if not name.endswith(("common.py", "incompressible.py"))])
def test_every_script_prints_its_usage_without_packages(name):
    """Catches a traceback instead of installation advice, and `--help` that is parsed as a path or ignored."""
    result = subprocess.run([sys.executable, "-S", ROOT / name, "--help"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "") and "usage: " in result.stdout


@pytest.mark.parametrize(
    ("picture", "message"), [("nowhere/picture.png", "No such file or directory"), ("picture.xyz", "is not supported")]
)
def test_a_picture_that_cannot_be_written_is_reported(picture, message, vortex, load, monkeypatch):
    """Catches a traceback of matplotlib."""
    dissipation = load("postprocess/dissipation.py")
    monkeypatch.setattr("sys.argv", ["dissipation.py", str(vortex.path), picture])
    with pytest.raises(SystemExit, match=f"^error: .*{message}"):
        dissipation.script(dissipation.main, None, 2, 2)


def test_validation_tables_match_the_fields(vortex, load, capsys):
    """Catches fields at a wrong time or wrong points, and velocities along the wrong line."""
    load("validation/history.py").robustness(vortex.path, "constant-density")
    row = capsys.readouterr().out.strip().split(",")
    assert row[3:6] == ["constant-density", "kennedy-gruber", "split-pressure"]
    assert row[-1] == f"{float(vortex.fields(names='density').density.std()):.4f}"
    fields = {"every_steps": 9, "variables": ["velocity"]}
    kolmo.run("lid-driven-cavity", grid__points=[17, 17, 1], time={"max_steps": 9}, output__fields=fields, out="cavity", quiet=True)
    cavity = load("validation/cavity.py")
    cavity.main("100", "cavity")
    cells = capsys.readouterr().out.split(" | ")
    # Measured values: after nine steps only the fluid near the lid moves.
    assert cells[:3] == ["| 100", "17²", "Ghia"]
    assert [float(cell) for cell in cells[3:5]] == pytest.approx([0.4645, 0.2202], abs=0.01)
    with pytest.raises(kolmo.KolmoError, match="there is no table for REYNOLDS = 99; allowed: 100, 1000"):
        cavity.main("99", "cavity")


def test_an_incomplete_table_does_not_replace_a_history(tmp_path):
    """Catches a table written in place of the committed one, which is lost if a script fails."""
    programs = {"cargo": "true", "target/release/kolmo": "true", ".venv/bin/python": "false"}
    for name, line in programs.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "validation/histories").mkdir(parents=True)
    (tmp_path / "validation/run").write_bytes((ROOT / "validation/run").read_bytes())
    for name in ("re1600-ma0.1-32", "robustness", "forced", "isotropic"):
        history = tmp_path / f"validation/histories/{name}.csv"
        history.write_text("of hours\n")
        what = "resolution" if name.startswith("re") else name
        result = subprocess.run(["bash", tmp_path / "validation/run", what], env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
        assert result.returncode == 1 and history.read_text() == "of hours\n", name
