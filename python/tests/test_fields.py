"""Fields and planes, compared with VTK, which reads the same files by independent code."""

import re
import warnings

import kolmo
import numpy
import pytest
import vtk
from kolmo import KolmoError, surfaces, vtk_files
from vtk.util.numpy_support import vtk_to_numpy

GRIDS = {"i": "ImageData", "r": "RectilinearGrid", "s": "StructuredGrid"}


def by_vtk(path):
    """Points [k, j, i, axis] and arrays [k, j, i, component] of a file."""
    reader = getattr(vtk, f"vtkXML{GRIDS[path.suffix[-1]]}Reader")()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    ends = grid.GetExtent()
    shape = tuple(last - first + 1 for first, last in zip(ends[::2], ends[1::2]))[::-1]
    points = numpy.array([grid.GetPoint(at) for at in range(grid.GetNumberOfPoints())])
    data = grid.GetPointData()
    arrays = [data.GetArray(at) for at in range(data.GetNumberOfArrays())]
    return points.reshape(*shape, 3), {a.GetName(): vtk_to_numpy(a).reshape(*shape, -1) for a in arrays}


def last_file(run):
    return run._files("fields", "")[-1][1]


@pytest.mark.parametrize("name", ["vortex", "channel", "cylinder"])
def test_fields_and_points_match_vtk(name, request):
    """Catches axes in the wrong order, coordinates of another grid, and truncated or transposed values."""
    run = request.getfixturevalue(name)
    points, arrays = by_vtk(last_file(run))
    fields = run.fields(closed=True)
    assert set(fields) == set(arrays) and len(arrays) >= 7
    for field in arrays:
        values = fields[field].values
        assert (values.reshape(arrays[field].shape) == arrays[field]).all(), field
    x, y, z = (fields[axis].values for axis in "xyz")
    found = numpy.meshgrid(z, y, x, indexing="ij")[::-1] if x.ndim == 1 else (x, y, z[:, None, None])
    for axis, values in enumerate(found):
        numpy.testing.assert_allclose(numpy.broadcast_to(values, points.shape[:3]), points[..., axis], atol=1e-14)


@pytest.mark.parametrize(("name", "periodic"), [("vortex", "zyx"), ("channel", "zx"), ("cylinder", "i")])
def test_points_that_close_a_period_are_returned_only_on_request(name, periodic, request):
    """Catches means that count points twice."""
    run = request.getfixturevalue(name)
    own, closed = run.fields(names=["density"]), run.fields(names=["density"], closed=True)
    points = dict(zip("xyz" if "x" in own.dims else "ijz", run.summary["points"]))
    assert own.sizes == points
    assert closed.sizes == {axis: n + (axis in periodic) for axis, n in points.items()}
    for axis in periodic:
        first, last = (closed.density.isel({axis: end}).values for end in (0, -1))
        assert (first == last).all()


@pytest.mark.parametrize("name", ["vortex", "channel", "cylinder"])
def test_pieces_are_joined_to_the_complete_field(name, request, tmp_path):
    """Catches a piece in the wrong place, and a lost layer where two pieces meet."""
    path = last_file(request.getfixturevalue(name))
    kind = GRIDS[path.suffix[-1]]
    reader = getattr(vtk, f"vtkXML{kind}Reader")()
    reader.SetFileName(str(path))
    writer = getattr(vtk, f"vtkXMLP{kind}Writer")()
    writer.SetInputConnection(reader.GetOutputPort())
    writer.SetFileName(str(tmp_path / f"pieces.p{path.suffix[1:]}"))
    writer.SetNumberOfPieces(3)
    writer.SetEndPiece(2)
    writer.SetDataModeToBinary()
    writer.SetCompressorTypeToNone()
    writer.SetHeaderTypeToUInt64()
    assert writer.Write() == 1
    # Kolmo writes its field data as text.
    field_data = re.compile("<FieldData>.*?</FieldData>", re.DOTALL)
    head = tmp_path / f"pieces.p{path.suffix[1:]}"
    head.write_text(
        field_data.sub(field_data.search(path.read_text(encoding="utf-8")).group(), head.read_text(encoding="utf-8")),
        encoding="utf-8",
    )
    for closed in (True, False):
        assert vtk_files.read(head, closed=closed).equals(vtk_files.read(path, closed=closed))
    assert vtk_files.read(head, ["density"]).density.equals(vtk_files.read(path).density)


def test_fields_are_read_at_the_nearest_time_the_last_several_or_all(vortex):
    """Catches fields of another time than requested, and a distant time without a warning."""
    times = vortex.field_times
    assert len(times) == 3 and times == sorted(times)
    assert float(vortex.fields(names=["density"]).time) == times[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(vortex.fields(1.001 * times[1], ["density"]).time) == times[1]
    with pytest.warns(UserWarning, match=f"t = {times[1]:g} is taken; near it are 0, ") as caught:
        assert float(vortex.fields(0.9 * times[1], "density").time) == times[1]
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="nothing was written at t = "):
        assert float(vortex.plane("z_3.14159", 0.9 * times[2]).time) == times[2]
    assert vortex.fields("all", ["density"]).density.dims == ("time", "z", "y", "x")
    pair = vortex.fields([times[2], 0.0], ["velocity"])
    assert pair.time.values.tolist() == [times[2], 0.0]
    assert (pair.velocity.isel(time=1) == vortex.fields(0, ["velocity"]).velocity).all()
    assert (pair.velocity.isel(time=0) != pair.velocity.isel(time=1)).any()
    for wrong in ("latest", "2.5", [], float("nan"), [0.0, float("inf")]):
        with pytest.raises(KolmoError, match='allowed: a number, several of them, "all"'):
            vortex.fields(wrong, ["density"])


@pytest.mark.parametrize("change", [{"grid__points": [16, 12, 12]}, {"output__fields__variables": ["density", "velocity"]}])
def test_times_with_different_points_or_variables_are_not_joined(change):
    """Catches invented values on the union of both grids, and an error message of another library."""
    fields = {"every_steps": 1, "variables": ["density"]}
    keys = {"grid__points": [12, 12, 12], "compute__backend": "cpu", "output__fields": fields}
    kolmo.run("taylor-green", out="run", quiet=True, time={"max_steps": 1, "cfl": 0.8}, **keys)
    run = kolmo.restart("run", quiet=True, time__max_steps=2, **change)
    with pytest.raises(KolmoError, match="lie on different points or have other variables .* one time at a time"):
        run.fields("all")
    assert numpy.isfinite(run.fields(0.0, ["density"]).density).all()


def test_fields_have_units_and_named_components(vortex):
    """Catches the unit of another field, and a component without a name."""
    fields = vortex.fields()
    assert fields.pressure.attrs["units"] == "ρ₀V₀²" and fields.q_criterion.attrs["units"] == "V₀²/L²"
    assert fields.velocity.sel(component="z").shape == (12, 13, 14)
    # u = sin x cos y cos z, which is sin x at y = z = 0: catches exchanged axes.
    u = vortex.fields(0).velocity.sel(component="x").sel(y=0, z=0)
    numpy.testing.assert_allclose(u, numpy.sin(u.x), atol=1e-15)


def test_a_plane_matches_the_fields(vortex):
    """Catches a plane with the wrong coordinate."""
    assert vortex.planes == ["z_0.00000", "z_3.14159"]
    plane = vortex.plane("z_3.14159")
    fields = vortex.fields(names=["vorticity"])
    assert (plane.vorticity == fields.vorticity.sel(z=plane.z)).all() and plane.sizes["z"] == 1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:-4000], "is cut off"),
        (lambda text: b"", "cannot be read"),
        (lambda text: text.replace(b"WholeExtent", b"Extent"), "its header lacks 'WholeExtent'"),
        (lambda text: text.replace(b'"0 14 0', b'"0 13 0'), "values of"),
        (lambda text: re.sub(rb'(format="binary">\n)[^<]{11}', rb"\1" + 11 * b"/", text, count=1), "is cut off or damaged"),
    ],
)
def test_a_damaged_file_raises_a_kolmo_error(vortex, tmp_path, damage, message):
    """Catches invented numbers, and a traceback of another library."""
    path = tmp_path / "damaged.vti"
    path.write_bytes(damage(last_file(vortex).read_bytes()))
    with pytest.raises(KolmoError, match=message):
        vtk_files.read(path)


def test_a_field_is_read_without_the_others(vortex, tmp_path):
    """Catches a search for the header in the values of all fields, which reads the complete file into memory."""
    text = last_file(vortex).read_bytes()
    (tmp_path / "one.vti").write_bytes(re.sub(rb'(Name="velocity"[^>]*>\n.{99}).{7}', rb"\1<Piece>", text))
    with pytest.raises(KolmoError, match="is damaged"):
        vtk_files.read(tmp_path / "one.vti", "velocity")
    assert vtk_files.read(tmp_path / "one.vti", "pressure").equals(vtk_files.read(last_file(vortex), "pressure"))


def test_errors_for_missing_names_list_the_available_ones(vortex, tmp_path):
    """Catches an internal KeyError."""
    with pytest.raises(KolmoError, match="holds no `speed`, but density, dilatation, dye, .*; add it to output.fields"):
        vortex.fields(names=["speed"])
    for wrong in (3, ["density", None]):
        for read in (vortex.fields, vortex.checkpoint):
            with pytest.raises(KolmoError, match=r"names = .*; allowed: the name of a field, several of them, or None"):
                read(names=wrong)
    with pytest.raises(KolmoError, match="has no plane `x_0`, but z_0.00000, z_3.14159"):
        vortex.plane("x_0")


@pytest.mark.parametrize(
    ("name", "kind"), [("vortex", "ImageData"), ("channel", "RectilinearGrid"), ("cylinder", "StructuredGrid")]
)
def test_a_pyvista_grid_has_the_points_of_the_file(name, kind, request):
    """Catches fields drawn at wrong points by PyVista."""
    run = request.getfixturevalue(name)
    grid = surfaces.grid(run.fields(closed=True))
    points, arrays = by_vtk(last_file(run))
    assert type(grid).__name__ == kind
    numpy.testing.assert_allclose(grid.points, points.reshape(-1, 3), atol=1e-13)
    assert (grid["velocity"] == arrays["velocity"].reshape(-1, 3)).all()


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_refined_field_keeps_its_values(times):
    """Catches doubling of the shortest wave of an even number of points on the finer grid."""
    values = numpy.random.default_rng(1).normal(size=(6, 5, 4))
    fine = surfaces.refine(values, times)
    assert fine.shape == tuple(n * times + 1 for n in values.shape)
    numpy.testing.assert_allclose(fine[:-1:times, :-1:times, :-1:times], values, atol=1e-14)
