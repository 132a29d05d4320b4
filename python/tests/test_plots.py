"""Figures show the data that their labels name."""

import importlib
import io
import json
import sys

import numpy
import pytest
from kolmo import KolmoError
from matplotlib.colors import to_rgb


def drawn(axes, label):
    """The values of a curve."""
    return next(line for line in axes.lines if line.get_label() == label).get_ydata()


def test_curves_are_those_of_the_series(vortex, cylinder, unfinished):
    """Catches a curve with the label of another, and work at a wall that is plotted as an error of the scheme."""
    series = vortex.series
    axes = vortex.plot.series("enstrophy", "mass")
    assert (drawn(axes, "mass") == series["mass"]).all() and axes.get_ylabel() == ""
    assert vortex.plot.series("enstrophy").get_ylabel() == "in ρ₀V₀²/L²"
    figure = vortex.plot.dissipation()
    assert (drawn(figure.axes[0], "from gradients") == series["dissipation"]).all()
    assert (drawn(figure.axes[0], "from the energy") == vortex.energy_loss).all()
    (curves,) = cylinder.plot.dissipation().axes
    assert [line.get_label() for line in curves.lines] == ["from gradients"]
    # The boundaries of an unfinished run are not known.
    (curves,) = unfinished.plot.dissipation().axes
    assert (drawn(curves, "from gradients") == series["dissipation"][:-1]).all()
    assert (drawn(vortex.plot.budget(), "viscous") == series["ke_rate_viscous"]).all()
    with pytest.raises(KolmoError, match="has no column `lift`, but step, time"):
        vortex.plot.series("lift")


def test_slices_show_the_plane_of_their_title(vortex, cylinder):
    """Catches x and y exchanged, another plane, such as the edge for a position outside, and a vector drawing of megabytes."""
    velocity = vortex.fields(names=["velocity"], closed=True)["velocity"]
    for across, at in (("z", None), ("x", 0.0), ("y", 3.0)):
        axes = vortex.plot.slice("velocity", across=across, at=at)
        plane = velocity.isel(z=6) if at is None else velocity.sel({across: at}, method="nearest")
        shown = numpy.sqrt((plane**2).sum("component"))
        numpy.testing.assert_allclose(axes.collections[0].get_array().reshape(shown.shape), shown)
        right, up = [axis for axis in "xyz" if axis != across]
        assert axes.get_xlabel() == f"{right}, in L" and axes.get_ylabel() == f"{up}, in L"
        assert axes.get_title().startswith(f"velocity, {across} = {float(plane[across]):.4g}")
    mesh = cylinder.plot.slice("pressure").collections[0]
    assert mesh.get_coordinates().reshape(-1, 2).min() == pytest.approx(-40)
    drawing = io.StringIO()
    axes.figure.savefig(drawing, format="svg")
    assert len(drawing.getvalue()) < 300_000
    for across in ("x", "j", "i"):
        with pytest.raises(KolmoError, match=f"a plane of this grid cannot be normal to `{across}`; allowed: z$"):
            cylinder.plot.slice("pressure", across=across)
    for at in (100.0, -0.1, numpy.nan):
        with pytest.raises(KolmoError, match=f"at = {at:g}: the fields reach from z = 0 to 6.28319"):
            vortex.plot.slice("velocity", at=at)
    for draw in (lambda time: vortex.plot.slice("velocity", time), vortex.plot.vortices):
        with pytest.raises(KolmoError, match="time = 'all': one time is drawn; allowed: "):
            draw("all")


def test_slices_around_a_body_show_its_vicinity(cylinder):
    """Catches slices of the complete domain, a colour scale that includes invisible points, and accepted invalid edges."""
    # A cylinder of diameter 1 at the origin; the slices that the run writes have the same edges.
    own = json.loads((cylinder.path / "slices/slices.json").read_text())
    axes = cylinder.plot.slice("pressure")
    near = numpy.array([axes.get_xlim(), axes.get_ylim()])
    assert near == pytest.approx(numpy.array([[-2, 8], [-3, 3]]))
    assert all(near == pytest.approx(numpy.array(one["edges"])) for one in own)
    assert cylinder.plot.slice("pressure", edges="all").get_xlim() == pytest.approx((-40, 40))
    axes = cylinder.plot.slice("pressure", edges=((10, 40), (-20, 20)))
    assert (*axes.get_xlim(), *axes.get_ylim()) == (10, 40, -20, 20)
    plane = cylinder.fields(names=["pressure"]).pressure.isel(z=0)
    seen = plane.where((plane.x >= 10) & (abs(plane.y) <= 20))
    assert axes.collections[0].get_clim() == pytest.approx((float(seen.min()), float(seen.max())))
    assert plane.max() > seen.max() + 1e-3
    for edges, why in (
        (((90, 91), (0, 1)), "no point of the plane lies within"),
        (((0, 1),), "allowed: "),
        ("near", "allowed: "),
        (((0, 1), (0,)), "allowed: "),
        (((1, 0), (0, 1)), "allowed: "),
        (((0, numpy.inf), (0, 1)), "allowed: "),
        ((("a", "b"), (0, 1)), "allowed: "),
    ):
        with pytest.raises(KolmoError, match=why):
            cylinder.plot.slice("pressure", edges=edges)


def test_spectra_are_those_nearest_to_the_times(vortex):
    """Catches a spectrum with a wrong time, a missing spectrum, and two with the same colour."""
    table = vortex.statistics["spectra"]
    last = table[(table["time"] == table["time"].max()) & (table["k"] > 0)]
    with pytest.warns(UserWarning, match="nothing was written at t = 99, ") as caught:
        axes = vortex.plot.spectra(99.0).axes[0]
    assert caught[0].filename == __file__
    shown = drawn(axes, f"t = {table['time'].max():g}")
    numpy.testing.assert_allclose(shown, last["energy"][last["energy"] > 1e-12 * last["energy"].max()])
    curves = [line for line in vortex.plot.spectra(7 * [0.0]).axes[0].lines if line.get_label() == "t = 0"]
    assert len({tuple(to_rgb(line.get_color())) for line in curves}) == 7
    with pytest.raises(KolmoError, match=r"time = \[\]; allowed: "):
        vortex.plot.spectra([])


def test_mean_velocity_between_walls_is_plotted_in_wall_units(channel):
    """Catches a missing or an extra half of the channel, and points at the walls, where the logarithm of y+ is infinite."""
    axes = channel.plot.profiles()
    table = channel.statistics["profiles"]
    assert len(drawn(axes, "this run")) == (table["time"] == table["time"].max()).sum() - 2


@pytest.mark.parametrize("name", ["vortex", "channel"])
def test_vortices_are_a_surface_of_q(name, request):
    """Catches a surface at another level, and a missing surface on a grid that is not periodic."""
    run = request.getfixturevalue(name)
    plotter = run.plot.vortices(level=0.3)
    mesh = next(mesh for mesh in plotter.meshes if "enstrophy" in mesh.point_data)
    assert mesh.n_points > 100 and numpy.ptp(mesh["q_criterion"]) < 1e-6 * mesh["q_criterion"].max()
    # On the refined grid the largest Q is slightly larger than at the points of the coarse grid.
    largest = float(run.fields(names=["q_criterion"]).q_criterion.max())
    assert 0.2999 * largest < mesh["q_criterion"].mean() < 0.36 * largest
    with pytest.raises(KolmoError, match="a level between 0 and 1"):
        run.plot.vortices(level=1.0)


def test_a_failing_import_of_an_installed_library_reports_its_cause(tmp_path, monkeypatch):
    """Catches the advice to install a library that is installed."""
    (tmp_path / "pyvista.py").write_text("raise ImportError('libGL.so.1 is not there')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("pyvista", "kolmo.surfaces"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(KolmoError, match="PyVista is installed, but cannot be imported: libGL.so.1 is not there"):
        importlib.import_module("kolmo.surfaces")
