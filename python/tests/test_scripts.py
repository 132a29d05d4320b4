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
    """Imports a script, which finds what lies beside it."""
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.syspath_prepend(ROOT / "postprocess")

    def load(name):
        spec = importlib.util.spec_from_file_location("script", ROOT / name)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


# The needs of `incompressible.py` are in no list.
@pytest.mark.parametrize("name", [name for name in SCRIPTS if not name.endswith("incompressible.py")])
def test_every_script_finds_what_it_imports(name, load):
    """Catches a name that the package or `common` has no longer: hours of runs would end before their table."""
    load(name)


@pytest.mark.parametrize("name", [name for name in SCRIPTS if not name.endswith(("common.py", "incompressible.py"))])
def test_every_script_tells_its_usage_without_packages(name):
    """Catches a traceback in place of the line that says what to install, and `--help` that is taken for a path or not heard."""
    said = subprocess.run([sys.executable, "-S", ROOT / name, "--help"], capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "") and "usage: " in said.stdout


@pytest.mark.parametrize(
    ("picture", "says"), [("nowhere/picture.png", "No such file or directory"), ("picture.xyz", "is not supported")]
)
def test_a_picture_that_cannot_be_written_is_told_in_a_sentence(picture, says, vortex, load, monkeypatch):
    """Catches a traceback of matplotlib."""
    dissipation = load("postprocess/dissipation.py")
    monkeypatch.setattr("sys.argv", ["dissipation.py", str(vortex.path), picture])
    with pytest.raises(SystemExit, match=f"^error: .*{says}"):
        dissipation.script(dissipation.main, None, 2, 2)


def test_tables_of_validation_are_those_of_the_fields(vortex, load, capsys):
    """Catches fields of another time or other points, and velocities along the wrong line."""
    load("validation/history.py").robustness(vortex.path, "constant-density")
    row = capsys.readouterr().out.strip().split(",")
    assert row[3:6] == ["constant-density", "kennedy-gruber", "split-pressure"]
    assert row[-1] == f"{float(vortex.fields(names='density').density.std()):.4f}"
    fields = {"every_steps": 9, "variables": ["velocity"]}
    kolmo.run("lid-driven-cavity", grid__points=[17, 17, 1], time={"max_steps": 9}, output__fields=fields, out="cavity", quiet=True)
    cavity = load("validation/cavity.py")
    cavity.main("100", "cavity")
    cells = capsys.readouterr().out.split(" | ")
    # As measured: the flow is there below the lid alone.
    assert cells[:3] == ["| 100", "17²", "Ghia"]
    assert [float(cell) for cell in cells[3:5]] == pytest.approx([0.4645, 0.2202], abs=0.01)
    with pytest.raises(kolmo.KolmoError, match="there is no table for REYNOLDS = 99; allowed: 100, 1000"):
        cavity.main("99", "cavity")


def test_a_table_that_is_not_whole_replaces_no_history(tmp_path):
    """Catches a table that is begun in the place of the committed one, which is lost where a script fails."""
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
        said = subprocess.run(["bash", tmp_path / "validation/run", what], env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
        assert said.returncode == 1 and history.read_text() == "of hours\n", name
