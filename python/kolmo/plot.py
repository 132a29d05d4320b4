"""Figures of a run with matplotlib, and surfaces with PyVista (`kolmo.surfaces`)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy

from kolmo.errors import KolmoError, needs
from kolmo.runs import Times, check_one, nearest

try:
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter
except ImportError as why:
    raise needs("matplotlib", "plot", why) from why

if TYPE_CHECKING:
    import pandas
    import pyvista
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kolmo.runs import Run

INK, RUN, REFERENCE = "#1a1a1a", "#0072b2", "#d55e00"
# Distinguishable with colour vision deficiency (Okabe and Ito 2008).
COLOURS = [RUN, REFERENCE, "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
_POINTS = {"linestyle": "none", "marker": "o", "markersize": 4, "markerfacecolor": "none"}

# Shells below this fraction of the largest one contain round-off.
_FLOOR = 1e-12

# Default view around a body, in body sizes from its centre, as in the slices of a run: left and right, below and above.
_VIEW = numpy.array([[-2.0, 8.0], [-3.0, 3.0]])

# ((left, right), (below, above)), as in `slices/slices.json`.
Edges = Sequence[Sequence[float]] | Literal["all"] | None


class Plots:
    """Figures of one run; each method returns its figure, axes or plotter, to modify or save."""

    def __init__(self, run: "Run") -> None:
        self._run = run

    def series(self, *columns: str, axes: "Axes | None" = None) -> "Axes":
        """Plot columns of the series over time, on one scale; the kinetic energy if no column is named."""
        axes = axes or _axes()
        table = self._run.series
        for name, colour in zip(columns or ("kinetic_energy",), _colours(len(columns) or 1)):
            axes.plot(table["time"], self._column(table, name), color=colour, label=name)
        units = {table.attrs["units"].get(name, "") for name in columns or ("kinetic_energy",)}
        axes.set(xlabel="time, in L/V₀", ylabel=f"in {units.pop()}" if len(units) == 1 else "")
        axes.legend(frameon=False)
        return _open(axes)

    def dissipation(self) -> "Figure":
        """Plot the dissipation from gradients, ⟨τ : ∇u⟩, the loss of kinetic energy (`Run.energy_loss`), and the reference.

        The two differ by the dissipation of the scheme, which is drawn below. If walls or open faces bound the flow, only the first is
        drawn, because they do work on the flow. The same holds until a run has ended, because its summary lists the boundaries.
        """
        series = self._run.series
        given = self._column(series, "dissipation")
        is_closed = self._run.has_ended and not self._run.summary.get("walls")
        loss = self._run.energy_loss if is_closed else None
        heights = (3,) if loss is None else (3, 1)
        figure, panels = plt.subplots(
            len(heights), 1, figsize=(7, 6.5), sharex=True, height_ratios=heights, squeeze=False, layout="constrained"
        )
        curves, *scheme = panels[:, 0]
        figure.suptitle(self._run.title)
        curves.plot(series["time"], given, color=RUN, label="from gradients")
        if loss is not None:
            curves.plot(series["time"], loss, color=REFERENCE, linestyle="--", label="from the energy")
        reference = self._run.reference
        if reference is not None:
            reference = reference[reference["time"] <= series["time"].max()]
            stride = max(1, len(reference) // 40)
            points = reference["time"][::stride], reference["dissipation"][::stride]
            curves.plot(*points, label="reference", color=INK, **_POINTS)
        curves.set(ylabel="dissipation", ylim=(0, None), xlim=(0, series["time"].max()))
        curves.legend(frameon=False)
        for axes in scheme:
            axes.plot(series["time"], loss - given, color=RUN)
            axes.axhline(0, color=INK, linewidth=0.8)
            axes.set(ylabel="of the scheme")
        panels[-1, 0].set(xlabel="time")
        for axes in panels[:, 0]:
            _open(axes)
        return figure

    def budget(self, axes: "Axes | None" = None) -> "Axes":
        """Plot the terms of dE/dt, the rates of change of the kinetic energy due to each discrete term. Their sum is dE/dt."""
        axes = axes or _axes()
        series = self._run.series
        total = self._column(series, "ke_rate")
        terms = [name for name in series.columns if name.startswith("ke_rate_") and series[name].abs().max() > 0]
        for name, colour in zip(terms, COLOURS):
            axes.plot(series["time"], series[name], color=colour, label=name.removeprefix("ke_rate_"))
        axes.plot(series["time"], total, color=INK, linestyle=":", label="dE/dt")
        axes.set(xlabel="time, in L/V₀", ylabel="in ρ₀V₀³/L")
        axes.legend(frameon=False)
        return _open(axes)

    def spectra(self, times: Times = None) -> "Figure":
        """Plot the spectra at one time, at several or at `"all"`, as in `Run.fields`; at the last three times by default. Below, the
        spectra multiplied by k^(5/3), which is constant in an inertial range."""
        table = self._run.statistics["spectra"]
        quantity = "energy" if "energy" in table.columns else "scalar"
        written = [(time, rows) for time, rows in table.groupby("time")]
        if not written:
            raise KolmoError(f"{self._run.path} has no rows in statistics/spectra.csv")
        shown = written[-3:] if times is None else nearest(written, times)

        figure, (plain, compensated) = plt.subplots(2, 1, figsize=(7, 8), sharex=True, layout="constrained")
        figure.suptitle(self._run.title)
        for (time, rows), colour in zip(shown, _colours(len(shown))):
            rows = rows[(rows["k"] > 0) & (rows[quantity] > _FLOOR * rows[quantity].max())]
            plain.loglog(rows["k"], rows[quantity], color=colour, label=f"t = {time:g}")
            compensated.loglog(rows["k"], rows[quantity] * rows["k"] ** (5 / 3), color=colour)
        reference = self._run.reference_spectrum if quantity == "energy" else None
        if reference is not None:
            rows = reference[reference["k"] <= table["k"].max()]
            label = f"reference, t = {reference.attrs['time']:g}"
            plain.loglog(rows["k"], rows["energy"], label=label, color=INK, **_POINTS)
            compensated.loglog(rows["k"], rows["energy"] * rows["k"] ** (5 / 3), color=INK, **_POINTS)
        largest = max(rows[quantity].max() for _, rows in shown)
        last = table["k"].max()
        if largest > 0 and last > 2:
            k = [2, min(20, last)]
            slope = [2 * largest * (x / 2) ** (-5 / 3) for x in k]
            plain.loglog(k, slope, color=INK, linewidth=0.8, label="slope -5/3")
        name = "E" if quantity == "energy" else "scalar"
        plain.set(ylabel=f"{name}(k)")
        compensated.set(xlabel="wavenumber k", ylabel=f"k^(5/3) {name}(k)")
        compensated.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        compensated.xaxis.set_major_formatter(ScalarFormatter())
        compensated.xaxis.set_minor_formatter(NullFormatter())
        plain.legend(frameon=False)
        for axes in (plain, compensated):
            _open(axes)
        return figure

    def slice(
        self,
        name: str,
        time: float | None = None,
        across: str = "z",
        at: float | None = None,
        axes: "Axes | None" = None,
        edges: Edges = None,
    ) -> "Axes":
        """Draw a field (the magnitude of a vector) in a plane of the box, to scale; the range of colours is that of the visible points.

        Args:
            name: The field.
            time: Draw the fields nearest to this time; None draws the last ones.
            across: The axis normal to the plane; only `z` on a curvilinear grid.
            at: Position of the plane, in L; the plane of the nearest points is drawn. None is the middle of the box.
            edges: The visible part, in L: `((left, right), (below, above))`, or `"all"`. None shows everything; on a grid
                around a body, the neighbourhood of the body, as in the slices of the run.
        """
        check_one(time)
        fields = self._run.fields(time, name, closed=True)
        plane = magnitude(fields[name])
        allowed = ["z"] if "j" in plane.dims else [str(axis) for axis in plane.dims]
        if across not in allowed:
            raise KolmoError(f"a plane of this grid cannot be normal to `{across}`; allowed: {', '.join(allowed)}")
        first, last = float(plane[across].min()), float(plane[across].max())
        # A position may be given with few digits, as for 2π.
        tolerance = 1e-4 * (last - first)
        if at is not None and not first - tolerance <= at <= last + tolerance:
            raise KolmoError(f"at = {at:g}: the fields reach from {across} = {first:g} to {last:g}")
        middle = plane.sizes[across] // 2
        plane = plane.isel({across: middle}) if at is None else plane.sel({across: at}, method="nearest")
        if min(plane.shape) < 2:
            raise KolmoError(f"the run has one point along an axis of the plane across {across}; choose another")
        axes = axes or _axes()
        x, y = "xy" if "j" in plane.dims else [axis for axis in "xyz" if axis != across]
        (left, right), (below, above) = _edges(plane[x], plane[y], edges)
        inside = (left <= plane[x]) & (plane[x] <= right) & (below <= plane[y]) & (plane[y] <= above)
        if not inside.any():
            raise KolmoError(f"no point of the plane lies within edges = {edges}")
        visible = plane.where(inside & numpy.isfinite(plane))
        plane.plot.pcolormesh(
            ax=axes,
            x=x,
            y=y,
            cmap="viridis",
            vmin=float(visible.min()),
            vmax=float(visible.max()),
            extend="neither",
            shading="gouraud",
            infer_intervals=False,
            # A raster in vector graphics; otherwise there are a hundred shapes per cell.
            rasterized=True,
            cbar_kwargs={"label": label(fields[name])},
        )
        where = f"{across} = {float(plane[across]):.4g}, t = {float(fields.time):.4g}"
        axes.set(aspect="equal", xlabel=f"{x}, in L", ylabel=f"{y}, in L", title=f"{name}, {where}")
        axes.set(xlim=(left, right), ylim=(below, above))
        return axes

    def profiles(self, axes: "Axes | None" = None) -> "Axes":
        """Plot the mean velocity between walls in wall units, with u⁺ = y⁺ and the logarithmic law."""
        table = self._run.statistics["profiles"]
        table = table[(table["time"] == table["time"].max()) & (table["y_plus"] > 0)]
        axes = axes or _axes()
        axes.semilogx(table["y_plus"], table["u_plus"], color=RUN, label="this run", **_POINTS)
        inner, outer = numpy.geomspace(0.5, 12), numpy.geomspace(8, max(30, table["y_plus"].max()))
        axes.plot(inner, inner, color=INK, linewidth=0.8, label="u⁺ = y⁺")
        axes.plot(outer, numpy.log(outer) / 0.41 + 5.2, color=INK, linewidth=0.8, linestyle="--", label="log law")
        axes.set(xlabel="y⁺", ylabel="u⁺", title=f"t = {table['time'].max():.4g}")
        axes.legend(frameon=False)
        return _open(axes)

    def vortices(self, time: float | None = None, level: float = 0.1, off_screen: bool = True) -> "pyvista.Plotter":
        """Return the surface Q = `level` max Q, coloured by the enstrophy, as a PyVista plotter: call its `screenshot`, or its `show`
        in a notebook, or in a window if `off_screen` is false."""
        from kolmo import surfaces

        return surfaces.vortices(self._run, time, level, off_screen)

    def _column(self, table: "pandas.DataFrame", name: str) -> "pandas.Series":
        if name not in table.columns:
            raise KolmoError(f"{self._run.path} has no column `{name}`, but {', '.join(table.columns)}")
        return table[name]


def magnitude(field: "xarray.DataArray") -> "xarray.DataArray":
    """Return a scalar field unchanged, or the magnitude of a vector."""
    return (field**2).sum("component") ** 0.5 if "component" in field.dims else field


def label(field: "xarray.DataArray") -> str:
    """`|vorticity|, in V₀/L`"""
    name = f"|{field.name}|" if "component" in field.dims else str(field.name)
    return name + (f", in {field.attrs['units']}" if "units" in field.attrs else "")


def _edges(x: "xarray.DataArray", y: "xarray.DataArray", requested: Edges) -> numpy.ndarray:
    """Return the edges of the picture of a plane whose points, including those that close a period, lie at x and y."""
    if not (requested is None or isinstance(requested, str) and requested == "all"):
        try:
            edges = numpy.asarray(requested, dtype=float)
        except (TypeError, ValueError):
            edges = numpy.empty(0)
        if edges.shape == (2, 2) and numpy.isfinite(edges).all() and (edges[:, 0] < edges[:, 1]).all():
            return edges
        raise KolmoError(f'edges = {requested!r}; allowed: ((left, right), (below, above)), "all", or None')
    bounds = numpy.array([[float(of.min()), float(of.max())] for of in (x, y)])
    # On a grid around a body the first and the last points along i coincide, and the points with j = 0 are on the body.
    is_o_grid = "j" in x.dims and all(numpy.allclose(of[:, 0], of[:, -1]) for of in (x, y))
    if requested == "all" or not is_o_grid:
        return bounds
    body = numpy.array([[float(of[0].min()), float(of[0].max())] for of in (x, y)])
    size = numpy.ptp(body, axis=1).max()
    view = body.mean(axis=1, keepdims=True) + size * _VIEW
    return numpy.clip(view, bounds[:, :1], bounds[:, 1:])


def _axes() -> "Axes":
    return plt.subplots(figsize=(6, 4.5), layout="constrained")[1]


def _colours(count: int) -> Sequence[Any]:
    """Return at least this many different colours."""
    return COLOURS if count <= len(COLOURS) else plt.get_cmap("viridis")(numpy.linspace(0, 0.95, count))


def _open(axes: "Axes") -> "Axes":
    axes.spines[["top", "right"]].set_visible(False)
    return axes
