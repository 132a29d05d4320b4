"""Access to a run directory."""

import json
import math
import os
import tomllib
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from kolmo import checkpoints, columns, tables, vtk_files
from kolmo.errors import KolmoError

if TYPE_CHECKING:
    import pandas
    import xarray

    from kolmo.plot import Plots

Times = float | Iterable[float] | Literal["all"] | None

# Distance in time beyond which a warning is given, relative to the duration of the run, and largest number of times in the warning.
_TIME_TOLERANCE, _MAX_LISTED_TIMES = 1e-3, 6


def open(run: "Run | str | os.PathLike[str]") -> "Run":
    """Open the run in a directory, also while it is running.

    Raises:
        KolmoError: The directory contains no run.
    """
    return run if isinstance(run, Run) else Run(path_of(run))


def path_of(run: "Run | str | os.PathLike[str]") -> Path:
    """Return the directory of a run."""
    if isinstance(run, Run):
        return run.path
    try:
        return Path(run)
    except TypeError:
        raise KolmoError(f"run = {run!r}; allowed: the directory of a run, or a run that is open") from None


class Run:
    """The results of a run. Files are read on access.

    Attributes:
        path: The run directory.
    """

    def __init__(self, path: Path) -> None:
        if not (path / "config.toml").is_file():
            raise KolmoError(f"{path} is not a run directory: it has no config.toml")
        self.path = path

    def __repr__(self) -> str:
        if not self.has_ended:
            return f"<run {self.path}, which has not ended>"
        try:
            of = self.summary
        except KolmoError as why:
            return f"<run {self.path}: {why}>"
        return f"<run {self.path}: {self.title}, t = {of['end_time']:g}, {of['verdict']}>"

    @cached_property
    def config(self) -> dict[str, Any]:
        """The resolved input, `config.toml`."""
        return _parsed(self.path / "config.toml", tomllib.loads)

    @property
    def has_ended(self) -> bool:
        """Whether there is a `summary.json`, which a run writes when it ends."""
        return (self.path / "summary.json").exists()

    @property
    def summary(self) -> dict[str, Any]:
        """Parameters, machine, speed and verdict of the run: `summary.json`, which a run writes when it ends."""
        if not self.has_ended:
            raise KolmoError(f"{self.path} has no summary.json: it is a run that has not ended")
        return _parsed(self.path / "summary.json", json.loads)

    @property
    def verdict(self) -> str:
        """The verdict and its reason, as printed in the last line of a run."""
        of = self.summary
        return ": ".join(word for word in (of["verdict"], of["verdict_reason"]) if word)

    @property
    def title(self) -> str:
        """The case, its parameters and its grid: `Taylor-Green vortex, Re = 1600, Ma = 0.1, 64 x 64 x 64 points`.

        Before the run has ended, the case is named as in the input: `taylor-green, Re = 1600, ...`.
        """
        if self.has_ended:
            of = self.summary
        else:
            case, grid = self.config["case"], self.config["grid"]
            of = case | {"title": case["name"], "points": grid["points"]}
        numbers = {"Re": of.get("reynolds"), "Ma": of.get("mach")}
        parts = [f"{name} = {number:g}" for name, number in numbers.items() if number is not None and math.isfinite(number)]
        return ", ".join([of["title"], *parts, " x ".join(str(n) for n in of["points"]) + " points"])

    @property
    def series(self) -> "pandas.DataFrame":
        """The time series, `series.csv`: volume averages, a row per time; `attrs` has units and meanings of the columns."""
        return tables.read(self.path / "series.csv", lambda name: columns.of_series(name, self._scalars))

    @property
    def _scalars(self) -> tuple[str, ...]:
        """Names of the passive scalars."""
        return tuple(self.config.get("scalars", {}))

    @property
    def energy_loss(self) -> "pandas.Series":
        """The loss of kinetic energy, ⟨(p − p₀) div u⟩ - dE/dt plus the rate due to a force, in ρ₀V₀³/L: one value per row of
        `series`; `series["time"]` has the times.

        In a box that is periodic or between symmetry planes, it equals the dissipation from gradients plus that of the scheme.
        Otherwise it also contains the work of moving walls, the energy flux through open faces and the loss in sponges.
        """
        series = self.series
        if "ke_rate" not in series:
            raise KolmoError(f"{self.path} is a run of a scalar, which has no kinetic energy")
        loss = series["pressure_dilatation"] - series["ke_rate"] + series.get("ke_rate_forcing", 0.0)
        meaning = columns.ENERGY_LOSS
        loss.attrs = {"units": {"energy_loss": meaning.unit}, "meaning": {"energy_loss": meaning.what}}
        return loss.rename("energy_loss")

    @property
    def reference(self) -> "pandas.DataFrame | None":
        """The reference curve of the case, `reference.csv`: `time`, `kinetic_energy`, `dissipation`; None if it has none."""
        return self._table("reference.csv")

    @property
    def profile(self) -> "pandas.DataFrame | None":
        """Computed and exact solution on a line through the box, `profile.csv`; None if no exact solution is known."""
        return self._table("profile.csv", columns.LINES)

    @property
    def surface(self) -> "pandas.DataFrame | None":
        """The wall of a body at the end, `surface.csv`: points, pressure and friction; None if there is no body."""
        return self._table("surface.csv", columns.LINES)

    @property
    def reference_spectrum(self) -> "pandas.DataFrame | None":
        """The reference spectrum of the case, `k` and `energy`, with its time in `attrs["time"]`; None if there is none."""
        table = self._table("reference_spectrum.csv", columns.STATISTICS["spectra"])
        if table is not None:
            text = (self.path / "reference_spectrum.csv").read_text(encoding="utf-8")
            times = [
                line[1:].strip()[4:].strip(" :=") for line in text.splitlines() if line[1:].strip().startswith("time")
            ]
            table.attrs["time"] = float(times[0])
        return table

    @property
    def statistics(self) -> tables.Statistics:
        """The tables of `statistics/` by name: `run.statistics["spectra"]`."""
        return tables.Statistics(self.path / "statistics", self._scalars)

    def _table(self, name: str, of: dict[str, columns.Meaning] = columns.SERIES) -> "pandas.DataFrame | None":
        path = self.path / name
        return tables.read(path, of.get) if path.exists() else None

    @property
    def field_times(self) -> list[float]:
        """The times at which fields were written, in L/V₀."""
        return [time for time, _ in self._files("fields", "set output.fields, for example to { every_time = 1.0 }")]

    def fields(
        self, time: Times = None, names: str | Sequence[str] | None = None, closed: bool = False
    ) -> "xarray.Dataset":
        """Read fields with their coordinates.

        Args:
            time: Read the fields nearest to this time, in L/V₀, with a warning if none were written near it; None reads the
                last ones. Several times, or `"all"`, give a Dataset with the dimension `time`, which holds all of
                them in memory.
            names: The field or fields to read; None reads all of them.
            closed: Whether to include the points that close the period, after the last points of a periodic axis. A
                Fourier transform or a mean needs the n points of the grid without them; a picture needs them.

        Returns:
            Fields of shape (nz, ny, nx), vectors (nz, ny, nx, 3), with units, and the coordinates `x`, `y`, `z` in L and
            `time`. On a curvilinear grid the dimensions are (z, j, i), and `x` and `y` have the shape (ny, nx).
        """
        files = self._files("fields", "set output.fields, for example to { every_time = 1.0 }")
        return _dataset(nearest(files, time), not is_one(time), names, closed)

    @property
    def planes(self) -> list[str]:
        """The planes of `output.planes` by their names, such as `z_3.14159`."""
        return sorted(path.name for path in (self.path / "planes").glob("*_*") if path.is_dir())

    def plane(
        self, name: str, time: Times = None, names: str | Sequence[str] | None = None, closed: bool = False
    ) -> "xarray.Dataset":
        """Read fields on a plane of `planes`; arguments and result are those of `fields`."""
        if name not in self.planes:
            there = ", ".join(self.planes) or "none: set output.planes"
            raise KolmoError(f"{self.path} has no plane `{name}`, but {there}")
        files = self._files(f"planes/{name}", "set output.planes")
        return _dataset(nearest(files, time), not is_one(time), names, closed)

    def _files(self, folder: str, hint: str) -> list[tuple[float, Path]]:
        """Return the times and files of fields in a folder, in the order of the `.series` file for ParaView."""
        for index in (self.path / folder).glob("*.*vt[irs].series"):
            files = _parsed(index, json.loads)["files"]
            return [(file["time"], self.path / folder / file["name"]) for file in files]
        raise KolmoError(f"{self.path} has no {folder}; {hint}")

    @property
    def checkpoints(self) -> list[int]:
        """The steps with a checkpoint, in order."""
        return list(checkpoints.steps(self.path / "checkpoints"))

    def checkpoint(self, step: int | None = None, names: str | Sequence[str] | None = None) -> "xarray.Dataset":
        """Read the conserved fields of a checkpoint.

        Args:
            step: One of `checkpoints`; None reads the last one.
            names: The field or fields to read; None reads all of them.

        Returns:
            `density`, `momentum_x`, `momentum_y`, `momentum_z`, `total_energy` and `rho_NAME` of each passive scalar, or
            `scalar`, of shape (nz, ny, nx) in double precision, with coordinates; `attrs` has `step` and `time`. On a
            curvilinear grid `x` and `y` of shape (ny, nx) are taken from the fields that the run wrote, if there are any.
        """
        found = checkpoints.steps(self.path / "checkpoints")
        if not found:
            raise KolmoError(f"{self.path} has no checkpoints; set output.checkpoint")
        if not (step is None or isinstance(step, Integral)):
            raise KolmoError(f"step = {step!r}; allowed: a whole number, one of {', '.join(map(str, found))}, or None for the last")
        if step is not None and step not in found:
            raise KolmoError(f"{self.path} has no checkpoint of step {step}, but of {', '.join(map(str, found))}")
        dataset = checkpoints.read(found[max(found) if step is None else step], names)
        if "j" in dataset.dims and list((self.path / "fields").glob("*vts.series")):
            grid = self.fields(names=[])
            if grid.x.shape == (dataset.sizes["j"], dataset.sizes["i"]):
                dataset = dataset.assign_coords(x=grid.x.variable, y=grid.y.variable)
        return dataset

    @cached_property
    def plot(self) -> "Plots":
        """Figures of the run: `run.plot.dissipation()`. They need `pip install 'kolmo[plot]'`."""
        from kolmo.plot import Plots

        return Plots(self)


def is_one(time: Times) -> bool:
    """Return whether one time is requested, not several."""
    return time is None or isinstance(time, Real)


def check_one(time: Times) -> None:
    """Raise an error if several times are requested."""
    if not is_one(time):
        raise KolmoError(f"time = {time!r}: one time is drawn; allowed: a number, or None for the last")


def nearest(written: Sequence[tuple[float, Any]], requested: Times) -> list[tuple[float, Any]]:
    """Return the entry of `written`, which is ordered by time, nearest to each requested time, with a warning if it is not near; the
    last entry if no time is requested."""
    if requested is None:
        return [written[-1]]
    times = [at for at, _ in written]
    try:
        if isinstance(requested, str):
            requested_times = times if requested == "all" else []
        else:
            requested_times = [float(at) for at in cast(Iterable[float], [requested] if is_one(requested) else requested)]
    except (TypeError, ValueError):
        requested_times = []
    if not requested_times or not all(map(math.isfinite, requested_times)):
        raise KolmoError(f'time = {requested!r}; allowed: a number, several of them, "all", or None for the last')
    found = [min(written, key=lambda one: abs(one[0] - at)) for at in requested_times]
    for at, (time, _) in zip(requested_times, found):
        if abs(time - at) > max(_TIME_TOLERANCE * (times[-1] - times[0]), 1e-9 * abs(at)):
            near = sorted(sorted(times, key=lambda one: abs(one - at))[:_MAX_LISTED_TIMES])
            there = ", ".join(f"{one:g}" for one in near)
            # The warning names the line that called the method of a run.
            warnings.warn(f"nothing was written at t = {at:g}, t = {time:g} is taken; near it are {there}", stacklevel=3)
    return found


def _dataset(
    files: list[tuple[float, Path]], joined: bool, names: str | Sequence[str] | None, closed: bool
) -> "xarray.Dataset":
    """Read the fields of one file, or of several joined along the dimension `time`."""
    import xarray

    datasets = [
        vtk_files.read(path, names, closed).assign_coords(time=((), at, {"units": "L/V₀"})) for at, path in files
    ]
    if not joined:
        return datasets[0]

    def is_like_first(dataset: "xarray.Dataset") -> bool:
        points = [it.coords.to_dataset().drop_vars("time") for it in (dataset, datasets[0])]
        return set(dataset.data_vars) == set(datasets[0].data_vars) and points[0].equals(points[1])

    if not all(map(is_like_first, datasets)):
        found = "; ".join(f"t = {float(it.time):g}: {', '.join(it.data_vars)} on {dict(it.sizes)}" for it in datasets)
        raise KolmoError(
            f"the fields of these times lie on different points or have other variables ({found}); read them one time at a time"
        )
    return xarray.concat(datasets, dim="time", join="exact")


def _parsed(path: Path, parse: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return the parsed content of a file."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as why:
        raise KolmoError(f"{path} cannot be read: {why}") from why
