"""The program: where it lies, what it is told, and what it says."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kolmo import runs, toml
from kolmo.errors import KolmoError

if TYPE_CHECKING:
    import pandas

# Where inputs are written that are dicts, and what the program says behind the last error of an input.
_SCRATCH = "kolmo-"
_COUNT = re.compile(r"\d+ errors?; nothing was run")
# A run that stopped early, as it was asked to, with a checkpoint.
_STOPPED = 3


@cache
def _absolute(named: str) -> Path:
    """A path as it was where it was first read: `os.chdir` moves no program."""
    return Path(named).absolute()


if "KOLMO_PROGRAM" in os.environ:
    _absolute(os.environ["KOLMO_PROGRAM"])


def program() -> Path:
    """The program that everything here starts.

    It is the one that the variable `KOLMO_PROGRAM` names, else the one that was installed with this package, else the first
    `kolmo` of `PATH`.
    """
    named = os.environ.get("KOLMO_PROGRAM")
    if named:
        path = _absolute(named)
        if not os.access(path, os.X_OK):
            raise KolmoError(f"KOLMO_PROGRAM is {path}, which is no program")
        return path
    name = "kolmo" + (sysconfig.get_config_var("EXE") or "")
    users = sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    for folder in (sysconfig.get_path("scripts"), users, str(Path(__file__).parents[1] / "bin")):
        if os.access(Path(folder) / name, os.X_OK):
            return Path(folder) / name
    found = shutil.which("kolmo")
    if found is None:
        raise KolmoError("there is no program `kolmo`: install the package from a wheel, or name one in KOLMO_PROGRAM")
    return Path(found)


def run(
    config: str | os.PathLike[str] | Mapping[str, Any],
    changes: Mapping[str, Any] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    quiet: bool = False,
    **keys: Any,
) -> runs.Run:
    """Run a simulation to its end and open it.

    Args:
        config: The name of a case (`kolmo.cases()`), the path of an input file, or an input as a dict:
            `{"case": {"name": "taylor-green"}, "grid": {"points": [32, 32, 32]}, "time": {"end": 1.0}}`.
        changes: Keys of the input to change, by their dotted names: `{"time.end": 2.0}`.
        out: The run directory, in place of `output.directory` of the input, which is `runs/CASE` where it says nothing.
        overwrite: Whether a run that is in that directory may be replaced.
        quiet: Whether progress is kept back, which else goes to `sys.stderr` every few seconds.
        **keys: More keys to change, with `__` for the dot: `time__end=2.0`, `grid__points=[64, 64, 64]`.

    Returns:
        The run. `run.summary["finished"]` is false where its wall time (`time.wall_limit`) was over before its end.

    Raises:
        KolmoError: With the program's sentence, where the input is wrong, a file cannot be written, or the flow diverges.
        KeyboardInterrupt: Where it was interrupted. The run has ended after its step with a checkpoint: `kolmo.restart`
            goes on with it.
    """
    with _typed(config) as name:
        command = ["run", *_set(changes, keys)]
        command += ["--out", os.fspath(out)] if out is not None else []
        command += ["--overwrite"] if overwrite else []
        _, told = _call([*command, "--", name], quiet=quiet, shown=name, may_stop=True)
    if out is not None:
        return runs.open(out)
    # A run tells where its report is when it ends.
    report = next((line for line in reversed(told) if line.endswith("report.html")), None)
    if report is None:
        raise KolmoError(f"{program()} ended, but named no run directory: give one with out=, or open it with kolmo.open", 0)
    return runs.open(Path(report).parent)


def restart(
    run: "runs.Run | str | os.PathLike[str]",
    changes: Mapping[str, Any] | None = None,
    *,
    quiet: bool = False,
    **keys: Any,
) -> runs.Run:
    """Go on with a run from its newest sound checkpoint, and open it again; arguments and errors are those of `run`.

    A run that is finished stays as it is, unless a change gives it a later end: `kolmo.restart(run, time__end=20)`.
    """
    directory = runs.path_of(run)
    _call(["restart", *_set(changes, keys), "--", str(directory)], quiet=quiet, may_stop=True)
    return runs.open(directory)


def converge(
    config: str | os.PathLike[str] | Mapping[str, Any],
    points: Iterable[int],
    changes: Mapping[str, Any] | None = None,
    *,
    keep_cfl: bool = False,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    quiet: bool = True,
    **keys: Any,
) -> "pandas.DataFrame":
    """Run a case on grid after grid: how its error falls.

    Args:
        config: As for `run`; the time at which errors are taken is `time.end`.
        points: Numbers of points along every axis that has more than one in the input.
        keep_cfl: Whether every grid has the same `time.cfl`.
        out: A directory for the table and its picture, which are thrown away where none is given.
        overwrite: Whether a table that is in that directory may be replaced.
        changes, quiet, **keys: As for `run`.

    Returns:
        A row a grid: `points`, `steps`, `dt` (in L/V₀), `error_l2` and `error_max` (root mean square and largest error),
        `order_l2` and `order_max` (from the grid before; NaN where there is none), `floor` (what no finer grid lowers).
        `attrs` has what the errors are of, the scheme and its formal order, and notes.
    """
    import pandas

    command = ["--json", "--points", ",".join(str(n) for n in points), *_set(changes, keys)]
    command += ["--keep-cfl"] if keep_cfl else []
    command += ["--overwrite"] if overwrite else []
    with _typed(config) as name, tempfile.TemporaryDirectory() as scratch:
        command += ["--out", scratch if out is None else os.fspath(out)]
        printed, _ = _call(["converge", *command, "--", name], quiet=quiet, shown=name)
    study = json.loads(printed)
    table = pandas.DataFrame(study.pop("rows"))
    orders = ["error_l2", "error_max", "order_l2", "order_max"]
    table[orders] = table[orders].astype("float64")
    table.attrs = study
    return table


def verify(*names: str, quick: bool = True, quiet: bool = True) -> "pandas.DataFrame":
    """Check whether the program is right on this machine.

    Args:
        *names: Families of checks: `"operators"`, `"waves"`; all of them where none is named.
        quick: Under a minute; without it every form is tried and the Taylor-Green vortex run.
        quiet: Whether progress is kept back.

    Returns:
        A row a check: `name`, `what` it shows, `measured` and `bound`, the `source` of the bound, `passed`.
    """
    import pandas

    command = ["verify", "--json", *(["--quick"] if quick else []), "--", *names]
    # A check that fails is a row of the table, and no reason to end.
    printed, _ = _call(command, quiet=quiet, may_fail=True)
    return pandas.DataFrame(json.loads(printed)["checks"])


def cases() -> dict[str, str]:
    """The names of the cases, and what each is."""
    printed, _ = _call(["cases"], quiet=True)
    return dict(line.split(maxsplit=1) for line in printed.splitlines())


def config(case: str) -> dict[str, Any]:
    """The input that comes with a case, to change and give to `run`."""
    printed, _ = _call(["init", "--", case], quiet=True)
    return tomllib.loads(printed)


@contextmanager
def _typed(config: str | os.PathLike[str] | Mapping[str, Any]) -> Iterator[str]:
    """What to call an input on the command line; a dict is written to a file that lasts as long."""
    if not isinstance(config, Mapping):
        if not isinstance(config, (str, os.PathLike)):
            raise KolmoError(f"config = {config!r}; allowed: the name of a case, the path of an input file, or a dict")
        yield os.fspath(config)
        return
    text = toml.document(config)
    with tempfile.TemporaryDirectory(prefix=_SCRATCH) as scratch:
        path = Path(scratch) / "config.toml"
        path.write_text(text, encoding="utf-8")
        yield str(path)


def _set(changes: Mapping[str, Any] | None, keys: Mapping[str, Any]) -> list[str]:
    """Changes as options."""
    dotted = dict(changes or {}) | {name.replace("__", "."): one for name, one in keys.items()}
    return [word for key, one in dotted.items() for word in ("--set", f"{key}={toml.value(one, key)}")]


def _call(
    command: list[str], *, quiet: bool, shown: str | None = None, may_stop: bool = False, may_fail: bool = False
) -> tuple[str, list[str]]:
    """Start the program, pass on what it tells, and return what it printed and the lines that it told.

    `shown` is a name that its messages have for an input which is a dict of ours. A run that `may_stop` may end early; a
    command that `may_fail` prints all the same.
    """
    try:
        process = subprocess.Popen(
            [program(), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as why:
        raise KolmoError(f"{program()} cannot be started: {why.strerror}") from why
    assert process.stdout is not None and process.stderr is not None
    printed: list[str] = []
    listener = threading.Thread(target=lambda out: printed.append(out.read()), args=[process.stdout], daemon=True)
    listener.start()
    told: list[str] = []
    failed = False
    with process.stdout, process.stderr as messages:
        try:
            for line in messages:
                told.append(line.rstrip("\n"))
                failed = failed or line.startswith("error: ")
                # An error is told by an exception.
                if not quiet and not failed:
                    print(told[-1], file=sys.stderr, flush=True)
            code = process.wait()
        except KeyboardInterrupt:
            # A second one within two seconds, as a terminal sends it to both, is the same request.
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
        listener.join()
    if code == 0 or (code == _STOPPED and may_stop) or (code == 1 and may_fail and printed[0]):
        return printed[0], told
    raise KolmoError(_sentence(told, code, shown), code)


def _sentence(told: list[str], code: int, shown: str | None) -> str:
    """What the program says of its failure: from the first line of an error on."""
    first = next((at for at, line in enumerate(told) if line.startswith("error: ")), None)
    if first is None:
        last = told[-1] if told else "it said nothing"
        return f"the program ended with {code}: {last}"
    lines = [line for line in told[first:] if not _COUNT.fullmatch(line)]
    text = "\n".join(lines).removeprefix("error: ")
    if shown is not None and Path(shown).parent.name.startswith(_SCRATCH):
        # Nobody but this module has seen that file and its lines.
        text = re.sub(re.escape(shown) + r"(:\d+)?", "config", text)
    return text
