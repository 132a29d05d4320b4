"""What the scripts of this folder share: the fields of a run, their times, and how figures look."""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import vtk
from vtk.util.numpy_support import vtk_to_numpy

INK, RUN, REFERENCE = "#1a1a1a", "#0072b2", "#d55e00"
# Told apart by everyone (Okabe and Ito 2008).
COLOURS = [RUN, REFERENCE, "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]

# What the fields are measured in: everything is non-dimensional.
UNITS = {
    "velocity": "V₀",
    "density": "ρ₀",
    "pressure": "ρ₀V₀²",
    "temperature": "T₀",
    "vorticity": "V₀/L",
    "q_criterion": "V₀²/L²",
    "dilatation": "V₀/L",
}

plt.rcParams.update({"font.size": 11, "axes.titlesize": 11, "text.color": INK, "axes.labelcolor": INK})


def field_files(run):
    """The files of the fields of a run, of one rank or of many, as (time, path), in order of time."""
    for name in ("fields.vti.series", "fields.pvti.series"):
        index = run / "fields" / name
        if index.exists():
            files = json.loads(index.read_text(encoding="utf-8"))["files"]
            return [(file["time"], run / "fields" / file["name"]) for file in files]
    if list((run / "fields").glob("fields.*vt[rs].series")):
        sys.exit(f"error: {run} has a stretched or curvilinear grid, and this draws equal spacings; open the files with PyVista or ParaView")
    sys.exit(f"error: {run} has no fields; set output.fields, for example to {{ every_time = 1.0 }}")


def nearest(files, time):
    """Of pairs (time, anything) the one nearest to `time`, the last one where it is None."""
    return files[-1] if time is None else min(files, key=lambda file: abs(file[0] - time))


def read_fields(path, names=None, closed=False):
    """The fields of a .vti or .pvti file as arrays [k, j, i] or [k, j, i, component] by name, the spacing and the origin.

    Files close the period: behind the last points of a periodic axis they repeat the first. Only where `closed` is true are
    these returned, too; a Fourier transform needs the n points of the grid without them.
    """
    reader = vtk.vtkXMLPImageDataReader() if path.suffix == ".pvti" else vtk.vtkXMLImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    nx, ny, nz = image.GetDimensions()
    repeats = image.GetFieldData().GetArray("last_plane_repeats_first")
    own = tuple(slice(-1 if repeats and repeats.GetValue(axis) and not closed else None) for axis in (2, 1, 0))
    data = image.GetPointData()
    found = {}
    for at in range(data.GetNumberOfArrays()):
        values = vtk_to_numpy(data.GetArray(at))
        found[data.GetArrayName(at)] = values.reshape((nz, ny, nx) + values.shape[1:])[own]
    for name in names or ():
        if name not in found:
            held = ", ".join(sorted(found)) or "nothing"
            sys.exit(f"error: {path} holds no `{name}`, but {held}; add it to output.fields.variables")
    return found, image.GetSpacing(), image.GetOrigin()


def summary(run):
    path = run / "summary.json"
    if not path.exists():
        sys.exit(f"error: {run} has no summary.json: it is no run, or one that has not ended")
    return json.loads(path.read_text(encoding="utf-8"))


def title(of):
    """`Taylor-Green vortex, Re = 1600, Ma = 0.1, 64 x 64 x 64 points`, as far as the summary `of` a run has it."""
    parts = [of["title"]]
    parts += [f"{name} = {of[key]:g}" for name, key in (("Re", "reynolds"), ("Ma", "mach")) if of.get(key) is not None]
    return ", ".join(parts + [" x ".join(str(n) for n in of["points"]) + " points"])


def label(name, magnitude=False):
    """`|vorticity|, in V₀/L`"""
    unit = f", in {UNITS[name]}" if name in UNITS else ""
    return (f"|{name}|" if magnitude else name) + unit


def number(text):
    """A time as it was typed."""
    try:
        return float(text)
    except ValueError:
        sys.exit(f"error: `{text}` is no time")
