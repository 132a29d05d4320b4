"""The program: its location, its arguments and its messages."""

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

# Prefix of the folder for inputs given as dicts, and the line that the program prints after the last error of an input.
_SCRATCH_PREFIX = "kolmo-"
_ERROR_COUNT = re.compile(r"\d+ errors?; nothing was run")
# Exit code of a run that stopped early on request, with a checkpoint.
_EXIT_STOPPED = 3


@cache
def _absolute(configured: str) -> Path:
    """Return the absolute path, resolved in the working directory of the first call; a later `os.chdir` has no effect on it."""
    return Path(configured).absolute()


if "KOLMO_PROGRAM" in os.environ:
    _absolute(os.environ["KOLMO_PROGRAM"])


def program() -> Path:
    """Return the path of the program that this package starts.

    It is the one named by the variable `KOLMO_PROGRAM`, else the one installed with this package, else the first
    `kolmo` in `PATH`.
    """
    configured = os.environ.get("KOLMO_PROGRAM")
    if configured:
        path = _absolute(configured)
        if not os.access(path, os.X_OK):
            raise KolmoError(f"KOLMO_PROGRAM is {path}, which is not an executable file")
        return path
    name = "kolmo" + (sysconfig.get_config_var("EXE") or "")
    user_scripts = sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    for folder in (sysconfig.get_path("scripts"), user_scripts, str(Path(__file__).parents[1] / "bin")):
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
        out: The run directory, in place of `output.directory` of the input, which defaults to `runs/CASE`.
        overwrite: Whether a run in that directory may be replaced.
        quiet: Suppress the progress, which is otherwise printed to `sys.stderr` every few seconds.
        **keys: More keys to change, with `__` for the dot: `time__end=2.0`, `grid__points=[64, 64, 64]`.

    Returns:
        The run. `run.summary["finished"]` is false if its wall time (`time.wall_limit`) ran out before its end.

    Raises:
        KolmoError: The input is wrong, a file cannot be written, or the flow diverges; with the message of the program.
        KeyboardInterrupt: The run was interrupted. It finished its step and wrote a checkpoint, from which `kolmo.restart`
            continues.
    """
    with _input_name(config) as name:
        command = ["run", *_set(changes, keys)]
        command += ["--out", os.fspath(out)] if out is not None else []
        command += ["--overwrite"] if overwrite else []
        _, stderr = _call([*command, "--", name], quiet=quiet, input_name=name, may_stop=True)
    if out is not None:
        return runs.open(out)
    # At its end a run prints the path of its report.
    report = next((line for line in reversed(stderr) if line.endswith("report.html")), None)
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
    """Continue a run from its newest valid checkpoint and open it; arguments and errors are those of `run`.

    A finished run stays unchanged, unless a change sets a later end: `kolmo.restart(run, time__end=20)`.
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
    """Run a case on a sequence of grids and measure the order of its error.

    Args:
        config: As for `run`; the time at which errors are taken is `time.end`.
        points: Numbers of points along every axis that has more than one point in the input.
        keep_cfl: Whether every grid has the same `time.cfl`.
        out: A directory for the table and its picture, which are discarded if it is None.
        overwrite: Whether a table in that directory may be replaced.
        changes, quiet, **keys: As for `run`.

    Returns:
        A row per grid: `points`, `steps`, `dt` (in L/V₀), `error_l2` and `error_max` (root mean square and largest error),
        `order_l2` and `order_max` (from the previous grid; NaN for the first), `floor` (estimated error that a finer grid does not reduce).
        `attrs` has the variable of the errors, the scheme and its formal order, and notes.
    """
    import pandas

    command = ["--json", "--points", ",".join(str(n) for n in points), *_set(changes, keys)]
    command += ["--keep-cfl"] if keep_cfl else []
    command += ["--overwrite"] if overwrite else []
    with _input_name(config) as name, tempfile.TemporaryDirectory() as folder:
        command += ["--out", folder if out is None else os.fspath(out)]
        stdout, _ = _call(["converge", *command, "--", name], quiet=quiet, input_name=name)
    study = json.loads(stdout)
    table = pandas.DataFrame(study.pop("rows"))
    orders = ["error_l2", "error_max", "order_l2", "order_max"]
    table[orders] = table[orders].astype("float64")
    table.attrs = study
    return table


def verify(*names: str, quick: bool = True, quiet: bool = True) -> "pandas.DataFrame":
    """Check the results of the program on this machine.

    Args:
        *names: Families of checks: `"operators"`, `"waves"`; all of them by default.
        quick: Run for less than a minute; otherwise every form is checked and the Taylor-Green vortex is run.
        quiet: Suppress the progress.

    Returns:
        A row per check: `name`, `what` it shows, `measured` and `bound`, the `source` of the bound, `passed`.
    """
    import pandas

    command = ["verify", "--json", *(["--quick"] if quick else []), "--", *names]
    # A failed check is a row of the table, not an error.
    stdout, _ = _call(command, quiet=quiet, may_fail=True)
    return pandas.DataFrame(json.loads(stdout)["checks"])


def cases() -> dict[str, str]:
    """Return the names of the cases with their summaries."""
    stdout, _ = _call(["cases"], quiet=True)
    return dict(line.split(maxsplit=1) for line in stdout.splitlines())


def config(case: str) -> dict[str, Any]:
    """Return the default input of a case, to change and pass to `run`."""
    stdout, _ = _call(["init", "--", case], quiet=True)
    return tomllib.loads(stdout)


@contextmanager
def _input_name(config: str | os.PathLike[str] | Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of an input for the command line; a dict is written to a temporary file, removed on exit."""
    if not isinstance(config, Mapping):
        if not isinstance(config, (str, os.PathLike)):
            raise KolmoError(f"config = {config!r}; allowed: the name of a case, the path of an input file, or a dict")
        yield os.fspath(config)
        return
    text = toml.document(config)
    with tempfile.TemporaryDirectory(prefix=_SCRATCH_PREFIX) as scratch:
        path = Path(scratch) / "config.toml"
        path.write_text(text, encoding="utf-8")
        yield str(path)


def _set(changes: Mapping[str, Any] | None, keys: Mapping[str, Any]) -> list[str]:
    """Return changes as command-line options."""
    dotted = dict(changes or {}) | {name.replace("__", "."): one for name, one in keys.items()}
    return [word for key, one in dotted.items() for word in ("--set", f"{key}={toml.value(one, key)}")]


def _call(
    command: list[str], *, quiet: bool, input_name: str | None = None, may_stop: bool = False, may_fail: bool = False
) -> tuple[str, list[str]]:
    """Run the program, forward its messages, and return its standard output and the lines of its standard error.

    `input_name` is the name of the input in its messages. A run with `may_stop` may end early; a command with `may_fail` prints a result
    even if it fails.
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
    stdout: list[str] = []
    reader = threading.Thread(target=lambda out: stdout.append(out.read()), args=[process.stdout], daemon=True)
    reader.start()
    stderr: list[str] = []
    failed = False
    with process.stdout, process.stderr as messages:
        try:
            for line in messages:
                stderr.append(line.rstrip("\n"))
                failed = failed or line.startswith("error: ")
                # Error messages are raised as an exception, not printed.
                if not quiet and not failed:
                    print(stderr[-1], file=sys.stderr, flush=True)
            code = process.wait()
        except KeyboardInterrupt:
            # The terminal sends the signal to both processes. The program treats two signals within two seconds as one request.
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
        reader.join()
    if code == 0 or (code == _EXIT_STOPPED and may_stop) or (code == 1 and may_fail and stdout[0]):
        return stdout[0], stderr
    raise KolmoError(_error_message(stderr, code, input_name), code)


def _error_message(stderr: list[str], code: int, input_name: str | None) -> str:
    """Return the error message of the program: the lines from its first error on."""
    first = next((index for index, line in enumerate(stderr) if line.startswith("error: ")), None)
    if first is None:
        last = stderr[-1] if stderr else "it printed nothing"
        return f"the program ended with {code}: {last}"
    lines = [line for line in stderr[first:] if not _ERROR_COUNT.fullmatch(line)]
    text = "\n".join(lines).removeprefix("error: ")
    if input_name is not None and Path(input_name).parent.name.startswith(_SCRATCH_PREFIX):
        # The temporary file and its line numbers are unknown to the caller.
        text = re.sub(re.escape(input_name) + r"(:\d+)?", "config", text)
    return text
