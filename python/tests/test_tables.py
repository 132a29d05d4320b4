"""Tables and the meaning of their columns, the summary, and checkpoints."""

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
    """Catches a column of the program that is unknown to the package."""
    series = request.getfixturevalue(name).series
    for what in ("units", "meaning"):
        assert set(series.attrs[what]) == set(series.columns)
    assert series["step"].tolist() == [0, 1, 2, 3, 4]


def test_every_column_of_the_user_guide_is_known():
    """Catches a column that was added only to the guide."""
    guide = (ROOT / "docs/user-guide.md").read_text(encoding="utf-8")
    rows = guide.split("Columns of `series.csv`, non-dimensional", 1)[1].split("\n## ", 1)[0]
    names = [
        name for row in rows.splitlines() if row.startswith("| `") for name in re.findall(r"`(\w+)`", row.split("|")[1])
    ]
    assert len(names) > 40
    assert [name for name in names if columns.of_series(name) is None] == []
    assert columns.of_series("dye_variance", ("dye",)).what == "⟨ρ(φ - m)²⟩/⟨ρ⟩ of dye"
    assert columns.of_series("dye_variance") is None and columns.of_series("dyed_mean", ("dye",)) is None


def test_statistics_are_named_tables_with_known_columns(vortex, channel):
    """Catches a table that is not found, and columns with the meaning of those of another table."""
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


def test_missing_reference_profile_and_surface_are_none(vortex, cylinder):
    """Catches an error for a case without a reference."""
    assert vortex.reference["time"].iloc[0] == 0 and "pseudo-spectral" in vortex.reference.attrs["source"]
    assert vortex.profile is None and vortex.surface is None and vortex.reference_spectrum is None
    assert cylinder.reference is None and len(cylinder.surface) == 48


def test_the_energy_loss_equals_the_dissipation_also_with_a_force(vortex, tmp_path):
    """Catches a wrong sign, and a missing force."""
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
    """Catches exchanged momentum components, and coordinates of a single grid line for a curvilinear grid."""
    assert vortex.checkpoints == [0, 2, 4]
    state, fields = vortex.checkpoint(), vortex.fields()
    assert state.attrs["step"] == 4 and state.attrs["time"] == float(fields.time)
    assert list(state) == ["density", "momentum_x", "momentum_y", "momentum_z", "total_energy", "rho_dye"]
    for axis in "xyz":
        expected = fields.density * fields.velocity.sel(component=axis)
        numpy.testing.assert_allclose(state[f"momentum_{axis}"], expected, atol=1e-14)
    assert state.indexes["x"].equals(fields.indexes["x"])
    assert vortex.checkpoint(2, ["density"]).equals(vortex.checkpoint(2, "density"))
    curvilinear = cylinder.checkpoint()
    assert curvilinear.density.dims == ("z", "j", "i") and (curvilinear.x == cylinder.fields().x).all()
    with pytest.raises(KolmoError, match="has no checkpoint of step 3, but of 0, 2, 4"):
        vortex.checkpoint(3)
    with pytest.raises(KolmoError, match="step = '2'; allowed: a whole number, one of 0, 2, 4, or None for the last"):
        vortex.checkpoint("2")
    with pytest.raises(KolmoError, match="holds no `pressure`, but density, momentum_x"):
        vortex.checkpoint(names=["pressure"])


@pytest.mark.parametrize(
    ("file", "damage", "message"),
    [
        ("density/c.0.0.0", None, "c.0.0.0 cannot be read: No such file"),
        ("density/c.0.0.0", lambda data: data[:-9], "c.0.0.0 is damaged: it has .* bytes, not "),
        ("density/c.0.0.0", lambda data: data[:99] + bytes([data[99] ^ 1]) + data[100:], "density is damaged: "),
        ("density/zarr.json", lambda data: data[:-9], "zarr.json is damaged: it has "),
        ("x/zarr.json", None, "x/zarr.json cannot be read: No such file"),
    ],
)
def test_a_damaged_checkpoint_raises_a_kolmo_error(vortex, tmp_path, file, damage, message):
    """Catches NaN for missing data, values that were never written, and an error of another library."""
    path = tmp_path / "step_00000004.zarr"
    shutil.copytree(vortex.path / "checkpoints" / path.name, path)
    data = (path / file).read_bytes()
    (path / file).unlink()
    if damage:
        (path / file).write_bytes(damage(data))
    with pytest.raises(KolmoError, match=message):
        checkpoints.read(path, "density")


def test_single_precision_is_read_with_its_offset(tmp_path):
    """Catches a missing offset, the state at rest: the density would be about 0."""
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


def test_a_run_describes_itself_and_reports_missing_output(vortex, tmp_path):
    """Catches an unfinished run that is treated as finished."""
    assert repr(vortex).startswith(
        f"<run {vortex.path}: Taylor-Green vortex, Re = 200, Ma = 0.1, 14 x 13 x 12 points, t = 0."
    )
    assert vortex.summary == json.loads((vortex.path / "summary.json").read_text(encoding="utf-8"))
    assert vortex.verdict.startswith("under-resolved: kmax η falls to ")
    assert vortex.config["scalars"]["dye"]["schmidt"] == 0.7
    (tmp_path / "config.toml").write_text("[case]\n", encoding="utf-8")
    unfinished = kolmo.open(tmp_path)
    assert repr(unfinished) == f"<run {tmp_path}, which has not ended>"
    with pytest.raises(KolmoError, match="has no summary.json: it is a run that has not ended"):
        unfinished.summary
    with pytest.raises(KolmoError, match="has no fields; set output.fields"):
        unfinished.fields()
    with pytest.raises(KolmoError, match="has no checkpoints; set output.checkpoint"):
        unfinished.checkpoint()
    with pytest.raises(KolmoError, match="is not a run directory: it has no config.toml"):
        kolmo.open(tmp_path / "nothing")
    with pytest.raises(KolmoError, match="run = None; allowed: the directory of a run"):
        kolmo.open(None)


def test_an_unfinished_run_can_be_read(unfinished, vortex):
    """Catches a title that requires a summary, and an incomplete row that is read as complete."""
    assert unfinished.title == "taylor-green, Re = 200, Ma = 0.1, 14 x 13 x 12 points"
    assert unfinished.series.equals(vortex.series[:-1])
    (unfinished.path / "config.toml").write_text(
        '[case]\nname = "custom"\nreynolds = inf\n[grid]\npoints = [8, 1, 1]\n', encoding="utf-8"
    )
    assert kolmo.open(unfinished.path).title == "custom, 8 x 1 x 1 points"


def test_truncated_files_are_named_in_the_error(vortex, tmp_path):
    """Catches an error of another library that does not name the file."""
    run = tmp_path / "run"
    for name in ("config.toml", "summary.json", "fields/fields.vti.series"):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_bytes((vortex.path / name).read_bytes()[:-9])
    damaged = kolmo.open(run)
    for read, name in ((lambda: damaged.config, "config.toml"), (lambda: damaged.title, "summary.json"), (damaged.fields, "vti.series")):
        with pytest.raises(KolmoError, match=f"{name} cannot be read: "):
            read()
    assert repr(damaged).startswith(f"<run {run}: {run}/summary.json cannot be read: ")
