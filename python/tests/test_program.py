"""Calls of the program by the package."""

import math
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import kolmo
import numpy
import pytest
from kolmo import KolmoError, toml

SMALL = {"case": {"name": "taylor-green"}, "grid": {"points": [16, 16, 16]}, "time": {"max_steps": 1}}


def test_an_input_is_a_case_a_file_or_a_dict(tmp_path):
    """Catches changes that one of the three ignores, and a wrong run directory."""
    (tmp_path / "my.toml").write_text(toml.document(SMALL), encoding="utf-8")
    for at, config in enumerate(["taylor-green", Path("my.toml"), SMALL]):
        run = kolmo.run(
            config,
            {"case.mach": 0.2},
            grid__points=numpy.array([16, 17, 18]),
            time__max_steps=1,
            out=f"a run/{at}",
            quiet=True,
        )
        assert run.path == Path(f"a run/{at}") and run.summary["steps"] == 1
        assert run.config["case"]["mach"] == 0.2 and run.config["grid"]["points"] == [16, 17, 18]
    assert kolmo.run(SMALL, quiet=True).path == Path("runs/taylor-green")


def test_values_and_inputs_round_trip_as_toml():
    """Catches values that TOML reads differently, such as inf, a string with quotes, or a key with a dot."""
    config = {
        "case": {"name": 'a "b" \\ \n \x7f é', "reynolds": math.inf, "octant": True, "list": [1, 2.5, [True]]},
        "scalars": {"dye": {"schmidt": 0.7, "walls": {"y": {"low": {"value": 1e-300}}}}},
        "odd key.": {"a b": 3},
        "top": -1,
    }
    assert tomllib.loads(toml.document(config)) == config
    assert toml.value(numpy.float32(0.5), "k") == "0.5" and toml.value(Path("a/b"), "k") == '"a/b"'
    assert math.isnan(tomllib.loads(f"k = {toml.value(math.nan, 'k')}")["k"])
    for wrong in (None, {1, 2}, {"deep": None}):
        with pytest.raises(KolmoError, match=r"^time\.end(\.deep)? = .* is of type \w+; allowed are numbers"):
            toml.value(wrong, "time.end")


@pytest.mark.parametrize(
    ("config", "keys", "message"),
    [
        ("taylor-green", {"time__ende": 3}, "--set time.ende=3: unknown key `ende` in [time]; did you mean `end`?"),
        ("taylor-gren", {}, "taylor-gren: no such file; did you mean `taylor-green`?\n"),
        (SMALL | {"grid": {"points": [16, 2, 16]}}, {}, "config: points = [16, 2, 16]: 2 points along y;"),
    ],
)
def test_an_input_error_of_the_program_raises_an_exception_with_its_message(config, keys, message, capfd):
    """Catches a traceback of `subprocess`, the name of a temporary file, and a message that is printed twice."""
    with pytest.raises(KolmoError) as error:
        kolmo.run(config, **keys)
    assert str(error.value).startswith(message) and error.value.exit_code == 2
    assert "nothing was run" not in str(error.value)
    assert capfd.readouterr() == ("", "") and not Path("runs").exists()


def test_arguments_of_wrong_type_raise_a_kolmo_error():
    """Catches an internal `TypeError`."""
    with pytest.raises(KolmoError, match="^config = None; allowed: the name of a case, the path of an input file, or a dict$"):
        kolmo.run(None)
    with pytest.raises(KolmoError, match="^run = None; allowed: the directory of a run, or a run that is open$"):
        kolmo.restart(None)


def test_an_existing_run_is_replaced_only_with_overwrite():
    """Catches the loss of the results of days."""
    kolmo.run(SMALL, quiet=True)
    with pytest.raises(KolmoError, match="^runs/taylor-green already holds a run\n"):
        kolmo.run(SMALL, time__max_steps=2, quiet=True)
    assert kolmo.run(SMALL, time__max_steps=2, overwrite=True, quiet=True).summary["steps"] == 2


def test_a_diverged_run_raises_an_error_with_the_step():
    """Catches a diverged run that is returned without an error."""
    with pytest.raises(KolmoError, match="diverged .* step") as error:
        kolmo.run(SMALL, time={"dt": 5.0, "max_steps": 20}, quiet=True)
    assert error.value.exit_code == 1


def test_progress_is_shown_unless_quiet(capsys):
    """Catches a notebook that shows no progress, and output with `quiet`."""
    kolmo.run(SMALL, out="shown")
    assert "runs" not in capsys.readouterr().out
    kolmo.run(SMALL, out="again")
    assert "step 1  t " in capsys.readouterr().err
    kolmo.run(SMALL, out="quiet", quiet=True)
    assert capsys.readouterr() == ("", "")


def test_an_interrupted_run_writes_a_checkpoint_and_can_be_restarted():
    """Catches a program that continues after the interrupt, and a run that must start from the beginning."""
    script = f"import kolmo; kolmo.run({SMALL!r}, time={{'end': 3.0, 'cfl': 0.05}}, out='long')"
    # A process that a shell starts in the background ignores the signal by default.
    run = subprocess.Popen(
        [sys.executable, "-c", f"import signal; signal.signal(2, signal.default_int_handler); {script}"]
    )
    table = Path("long/series.csv")
    while not table.exists() or table.read_text(encoding="utf-8").count("\n") < 3:
        assert run.poll() is None
        time.sleep(0.02)
    run.send_signal(2)
    assert run.wait() != 0
    stopped = kolmo.open("long")
    assert not stopped.summary["finished"] and stopped.checkpoints
    done = kolmo.restart(stopped, time={"max_steps": stopped.summary["steps"] + 1}, quiet=True)
    assert done.summary["finished"] and done.path == stopped.path


def test_a_convergence_study_returns_a_table_and_writes_no_files():
    """Catches an order that is a string or None, and tables in the user's directory."""
    wave = {"name": "scalar-advection", "shape": "sine", "velocity": [1, 0, 0]}
    table = kolmo.converge(
        "scalar-advection", [24, 48], case=wave, grid__points=[9, 1, 1], time={"dt": 5e-3, "end": 0.5}
    )
    assert table["points"].tolist() == [24, 48] and table["order_l2"].dtype == "f8"
    # The next term of the Taylor series of k' changes the order by about h²/2 of the coarse grid.
    assert math.isnan(table["order_l2"][0]) and abs(table["order_l2"][1] - table.attrs["formal_order"]) < 0.04
    assert os.listdir() == []
    for again in (False, True):
        kolmo.converge("acoustic-wave", [12, 16], time__end=0.1, out="order", overwrite=again)
    assert "converge.csv" in os.listdir("order")


def test_checks_cases_and_inputs_are_those_of_the_program():
    """Catches errors in parsing the output of the program."""
    checks = kolmo.verify("integrators")
    assert len(checks) > 10 and checks["passed"].all() and (checks["measured"] <= checks["bound"]).all()
    assert kolmo.cases()["scalar-advection"].startswith("a scalar carried at constant velocity")
    assert kolmo.config("shear-wave")["case"]["name"] == "shear-wave"
    with pytest.raises(KolmoError, match="not a family of checks"):
        kolmo.verify("nothing")


def test_kolmo_program_selects_the_program(monkeypatch):
    """Catches another program than the selected one, and a relative path that is not found after `os.chdir`."""
    program = kolmo.program()
    assert program.name.startswith("kolmo") and os.access(program, os.X_OK)
    monkeypatch.setenv("KOLMO_PROGRAM", "/nowhere/kolmo")
    with pytest.raises(KolmoError, match="KOLMO_PROGRAM is /nowhere/kolmo, which is not an executable file"):
        kolmo.cases()
    monkeypatch.setenv("KOLMO_PROGRAM", os.path.relpath(program))
    script = "import kolmo, os; os.chdir('/'); kolmo.cases(); os.chdir('/usr'); kolmo.cases()"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_program_that_reports_no_run_directory_raises_an_error(monkeypatch):
    """Catches a `StopIteration`, a name parsed as an option, and a directory name truncated at a line break."""
    assert kolmo.run(SMALL, out="two\nlines", quiet=True).path == Path("two\nlines")
    with pytest.raises(KolmoError, match="^--help: no such file"):
        kolmo.run("--help")
    monkeypatch.setenv("KOLMO_PROGRAM", shutil.which("true"))
    with pytest.raises(KolmoError, match="ended, but named no run directory: give one with out="):
        kolmo.run(SMALL)


def test_the_package_imports_slow_libraries_only_on_use():
    """Catches `import kolmo` and `kolmo.open` that take a second and more."""
    kolmo.run(SMALL, quiet=True)
    slow = {"numpy.linalg.tests", "pandas", "xarray", "zarr", "matplotlib", "pyvista", "vtk"}
    script = (
        "import sys, kolmo; run = kolmo.open('runs/taylor-green'); run.config; run.summary; repr(run)\n"
        f"found = {slow} & set(sys.modules); assert not found, found"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
