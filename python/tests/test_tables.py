"""Tables, what their columns mean, the summary, and checkpoints."""

import json
import re
import shutil

import kolmo
import numpy
import pytest
from conftest import ROOT
from kolmo import KolmoError, checkpoints, columns


@pytest.mark.parametrize("name", ["vortex", "channel", "cylinder"])
def test_every_column_of_the_series_has_a_meaning_and_a_unit(name, request):
    """A column that the program has and the package does not know."""
    series = request.getfixturevalue(name).series
    for what in ("units", "meaning"):
        assert set(series.attrs[what]) == set(series.columns)
    assert series["step"].tolist() == [0, 1, 2, 3, 4]


def test_every_column_of_the_user_guide_is_known():
    """A column that was added to the guide alone."""
    guide = (ROOT / "docs/user-guide.md").read_text(encoding="utf-8")
    rows = guide.split("Columns of `series.csv`, non-dimensional", 1)[1].split("\n## ", 1)[0]
    names = [
        name for row in rows.splitlines() if row.startswith("| `") for name in re.findall(r"`(\w+)`", row.split("|")[1])
    ]
    assert len(names) > 40
    assert [name for name in names if columns.of_series(name) is None] == []
    assert columns.of_series("dye_variance", ("dye",)).what == "⟨ρ(φ - m)²⟩/⟨ρ⟩ of dye"
    assert columns.of_series("dye_variance") is None and columns.of_series("dyed_mean", ("dye",)) is None


def test_statistics_are_tables_by_name_whose_columns_are_known(vortex, channel):
    """A table that is not found, or whose columns have the meaning of those of another."""
    tables = vortex.statistics
    assert set(tables) == {"gradient_moments", "gradients", "moments", "spectra", "structure", "turbulence"}
    for name, table in [*tables.items(), ("profiles", channel.statistics["profiles"])]:
        unknown = set(table.columns) - set(table.attrs["units"]) - {"dye_variance"}
        assert not unknown and len(table), (name, unknown)
    units = tables["spectra"].attrs["units"]
    assert units["density"] == "ρ₀²" and tables["moments"].attrs["units"]["density"] == "ρ₀"
    assert units["dissipation"] == vortex.series.attrs["units"]["dissipation"] and units["dye_variance"] == "1"
    with pytest.raises(
        KolmoError, match="has no statistics/profiles.csv; set output.statistics .*: gradient_moments, "
    ):
        tables["profiles"]


def test_reference_and_profile_are_none_where_there_is_none(vortex, cylinder):
    """An error where a case has no reference."""
    assert vortex.reference["time"].iloc[0] == 0 and "pseudo-spectral" in vortex.reference.attrs["source"]
    assert vortex.profile is None and vortex.surface is None and vortex.reference_spectrum is None
    assert cylinder.reference is None and len(cylinder.surface) == 48


def test_what_the_energy_loses_is_the_dissipation_also_where_a_force_acts(vortex, tmp_path):
    """A sign, or the force that is left out."""
    forced = kolmo.run(
        "taylor-green",
        {"grid.points": [16, 16, 16], "forcing": {"kind": "linear", "coefficient": 0.3}, "time": {"max_steps": 2}},
        scheme__viscous="conservative",
        output__series={"every_steps": 1},
        output__fields="none",
        quiet=True,
    )
    assert forced.series["ke_rate_forcing"].abs().max() > 0.01
    for run in (vortex, forced):
        loss = run.energy_loss
        numpy.testing.assert_allclose(loss, run.series["dissipation"], rtol=2e-3)
        assert loss.name == "energy_loss" and loss.attrs["units"]["energy_loss"] == "ρ₀V₀³/L"
        assert loss.index.equals(run.series.index)


def test_a_checkpoint_has_the_conserved_fields_with_coordinates(vortex, cylinder):
    """A momentum along another axis; coordinates of the curvilinear grid that are those of one line of it."""
    assert vortex.checkpoints == [0, 2, 4]
    state, fields = vortex.checkpoint(), vortex.fields()
    assert state.attrs["step"] == 4 and state.attrs["time"] == float(fields.time)
    assert list(state) == ["density", "momentum_x", "momentum_y", "momentum_z", "total_energy", "rho_dye"]
    for axis in "xyz":
        given = fields.density * fields.velocity.sel(component=axis)
        numpy.testing.assert_allclose(state[f"momentum_{axis}"], given, atol=1e-14)
    assert state.indexes["x"].equals(fields.indexes["x"])
    assert vortex.checkpoint(2, ["density"]).equals(vortex.checkpoint(2, "density"))
    bent = cylinder.checkpoint()
    assert bent.density.dims == ("z", "j", "i") and (bent.x == cylinder.fields().x).all()
    with pytest.raises(KolmoError, match="has no checkpoint of step 3, but of 0, 2, 4"):
        vortex.checkpoint(3)
    with pytest.raises(KolmoError, match="step = '2'; allowed: a whole number, one of 0, 2, 4, or None for the last"):
        vortex.checkpoint("2")
    with pytest.raises(KolmoError, match="holds no `pressure`, but density, momentum_x"):
        vortex.checkpoint(names=["pressure"])


@pytest.mark.parametrize(
    ("file", "spoil", "says"),
    [
        ("density/c.0.0.0", None, "c.0.0.0 cannot be read: No such file"),
        ("density/c.0.0.0", lambda data: data[:-9], "c.0.0.0 is damaged: it has .* bytes, not "),
        ("density/c.0.0.0", lambda data: data[:99] + bytes([data[99] ^ 1]) + data[100:], "density is damaged: "),
        ("density/zarr.json", lambda data: data[:-9], "zarr.json is damaged: it has "),
        ("x/zarr.json", None, "x/zarr.json cannot be read: No such file"),
    ],
)
def test_a_damaged_checkpoint_is_told_in_a_sentence(vortex, tmp_path, file, spoil, says):
    """NaN for what is missing, values that nobody wrote, or an error of another library."""
    path = tmp_path / "step_00000004.zarr"
    shutil.copytree(vortex.path / "checkpoints" / path.name, path)
    data = (path / file).read_bytes()
    (path / file).unlink()
    if spoil:
        (path / file).write_bytes(spoil(data))
    with pytest.raises(KolmoError, match=says):
        checkpoints.read(path, "density")


def test_single_precision_is_read_with_its_offset(tmp_path):
    """A state at rest that is left out: the density would be about 0."""
    run = kolmo.run(
        "taylor-green",
        grid__points=[16, 16, 16],
        time__max_steps=1,
        compute__precision="f32",
        output__fields="none",
        quiet=True,
    )
    density = run.checkpoint().density
    assert density.dtype == "f8" and abs(float(density.mean()) - 1) < 1e-6


def test_a_run_says_what_it_is_and_what_is_not_yet_there(vortex, tmp_path):
    """A run that has not ended, taken for one that has."""
    assert repr(vortex).startswith(
        f"<run {vortex.path}: Taylor-Green vortex, Re = 200, Ma = 0.1, 14 x 13 x 12 points, t = 0."
    )
    assert vortex.summary == json.loads((vortex.path / "summary.json").read_text(encoding="utf-8"))
    assert vortex.verdict.startswith("under-resolved: kmax η falls to ")
    assert vortex.config["scalars"]["dye"]["schmidt"] == 0.7
    (tmp_path / "config.toml").write_text("[case]\n", encoding="utf-8")
    begun = kolmo.open(tmp_path)
    assert repr(begun) == f"<run {tmp_path}, which has not ended>"
    with pytest.raises(KolmoError, match="has no summary.json: it is a run that has not ended"):
        begun.summary
    with pytest.raises(KolmoError, match="has no fields; set output.fields"):
        begun.fields()
    with pytest.raises(KolmoError, match="has no checkpoints; set output.checkpoint"):
        begun.checkpoint()
    with pytest.raises(KolmoError, match="is not a run directory: it has no config.toml"):
        kolmo.open(tmp_path / "nothing")
    with pytest.raises(KolmoError, match="run = None; allowed: the directory of a run"):
        kolmo.open(None)


def test_a_run_that_goes_on_is_read_and_drawn(begun, vortex):
    """Catches a title that only a summary has, and a row that the program is about to write, which is taken for a whole one."""
    assert begun.title == "taylor-green, Re = 200, Ma = 0.1, 14 x 13 x 12 points"
    assert begun.series.equals(vortex.series[:-1])
    (begun.path / "config.toml").write_text(
        '[case]\nname = "custom"\nreynolds = inf\n[grid]\npoints = [8, 1, 1]\n', encoding="utf-8"
    )
    assert kolmo.open(begun.path).title == "custom, 8 x 1 x 1 points"


def test_files_that_are_cut_off_are_named(vortex, tmp_path):
    """An error of another library that does not say of which file."""
    run = tmp_path / "run"
    for name in ("config.toml", "summary.json", "fields/fields.vti.series"):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_bytes((vortex.path / name).read_bytes()[:-9])
    cut = kolmo.open(run)
    for read, name in ((lambda: cut.config, "config.toml"), (lambda: cut.title, "summary.json"), (cut.fields, "vti.series")):
        with pytest.raises(KolmoError, match=f"{name} cannot be read: "):
            read()
    assert repr(cut).startswith(f"<run {run}: {run}/summary.json cannot be read: ")
