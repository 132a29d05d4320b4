"""Read all files of runs with the software that users have: pandas for the series, VTK for the fields.

usage: readback.py RUN_DIR...

Exits with an error message and a non-zero status if something is missing or wrong. Needs: pip install pandas vtk
"""

import json
import sys
from pathlib import Path


class Wrong(Exception):
    """Something in the run is missing or wrong."""


def check(condition, message):
    if not condition:
        raise Wrong(message)


def load(path):
    check(path.is_file(), f"{path} is missing")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Wrong(f"{path} is not JSON: {error}") from error


def check_series(path):
    """Checks that all values are finite numbers, and that steps and times increase. Returns the number of rows."""
    import numpy
    import pandas

    check(path.is_file(), f"{path} is missing")
    series = pandas.read_csv(path)
    check(list(series.columns[:3]) == ["step", "time", "dt"], f"{path} does not start with step,time,dt")
    check("mass" in series.columns, f"{path} has no column `mass`")
    check(len(series) > 0, f"{path} has no rows")
    for name in series.columns:
        check(
            pandas.api.types.is_numeric_dtype(series[name]) and numpy.isfinite(series[name]).all(),
            f"{path}: column `{name}` contains a value that is not a finite number",
        )
    check(pandas.api.types.is_integer_dtype(series["step"]), f"{path}: `step` is not a column of integers")
    for name in ("step", "time"):
        check((series[name].diff().dropna() > 0).all(), f"{path}: `{name}` does not increase from row to row")
    return len(series)


def read_grid(path):
    """Returns the dimensions of a file of fields; the lengths between its ends, or None for a curvilinear grid; for each axis whether the
    last points repeat the first; and the arrays [k, j, i, component] by name."""
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy

    check(path.is_file(), f"{path} is missing")
    kinds = {"i": "ImageData", "r": "RectilinearGrid", "s": "StructuredGrid"}
    parallel = "P" if path.suffix.startswith(".p") else ""
    reader = getattr(vtk, f"vtkXML{parallel}{kinds[path.suffix[-1]]}Reader")()
    check(reader.CanReadFile(str(path)), f"{path}: VTK does not accept it as the format of its extension")
    reader.SetFileName(str(path))
    reader.Update()
    check(reader.GetErrorCode() == 0, f"{path}: VTK could not read it")
    image = reader.GetOutput()
    if path.suffix.endswith("i"):
        check(min(image.GetSpacing()) > 0, f"{path}: the spacing {image.GetSpacing()} is not positive")
    repeats = image.GetFieldData().GetArray("last_plane_repeats_first")
    check(repeats, f"{path} has no array `last_plane_repeats_first`")
    bounds = image.GetBounds()
    lengths = None if path.suffix.endswith("s") else [end - start for start, end in zip(bounds[::2], bounds[1::2])]
    ends = image.GetExtent()
    dimensions = tuple(last - first + 1 for first, last in zip(ends[::2], ends[1::2]))
    data = image.GetPointData()
    arrays = {}
    for at in range(data.GetNumberOfArrays()):
        values, shape = vtk_to_numpy(data.GetArray(at)), dimensions[::-1]
        check(len(values) == image.GetNumberOfPoints(), f"{path}: `{data.GetArrayName(at)}` has {len(values)} points")
        arrays[data.GetArrayName(at)] = values.reshape(*shape, -1)
    return dimensions, lengths, [bool(repeats.GetValue(axis)) for axis in range(3)], arrays


def check_fields(index, points, length):
    """Checks that every listed file exists, on the grid of the run, with the same finite arrays, and spans the complete box: along a
    periodic axis the first plane is repeated one period further. Returns the number of files.
    """
    import numpy

    entries = load(index)["files"]
    check(entries, f"{index} lists no files")
    times = [entry["time"] for entry in entries]
    check(sorted(set(times)) == times, f"{index}: the times do not increase")
    first = None
    for entry in entries:
        path = index.parent / entry["name"]
        dimensions, lengths, repeats, arrays = read_grid(path)
        independent = [n - repeat for n, repeat in zip(dimensions, repeats)]
        check(independent == points, f"{path}: {independent} points, but summary.json has {points}")
        for axis in (axis for axis in range(3) if lengths and points[axis] > 1):
            equal = abs(lengths[axis] - length[axis]) < 1e-14 * length[axis]
            check(equal, f"{path}: the length along {'xyz'[axis]} is {lengths[axis]}, that of the box {length[axis]}")
        check(arrays, f"{path} contains no arrays")
        first = first or set(arrays)
        check(set(arrays) == first, f"{path}: arrays {sorted(arrays)}, but the first file has {sorted(first)}")
        for name, values in arrays.items():
            check(numpy.isfinite(values).all(), f"{path}: `{name}` contains a value that is not finite")
            for axis in (axis for axis in range(3) if repeats[axis]):
                same = (values.take(0, axis=2 - axis) == values.take(-1, axis=2 - axis)).all()
                check(same, f"{path}: the last plane of `{name}` along {'xyz'[axis]} differs from the first")
    return len(entries)


def check_summary(path):
    """Checks that the keys that other programs use exist. Returns the summary."""
    summary = load(path)
    keys = "version case points backend precision machine steps end_time wall_seconds ns_per_point_stage phases verdict"
    for key in keys.split():
        check(key in summary, f"{path} has no `{key}`")
    verdicts = ["passed", "deviates", "measured", "no reference", "under-resolved", "no verdict"]
    check(summary["verdict"] in verdicts, f"{path}: `{summary['verdict']}` is no verdict")
    return summary


def check_report(path):
    check(path.is_file(), f"{path} is missing")
    page = path.read_text(encoding="utf-8")
    check("<svg" in page and "</svg>" in page, f"{path} contains no plot")
    check(page.rstrip().endswith("</html>"), f"{path} is truncated")


def read_back(run):
    """Checks a run and returns a line that summarises it."""
    check(run.is_dir(), f"{run} is not a directory")
    summary = check_summary(run / "summary.json")
    rows = check_series(run / "series.csv")
    pieces = "p" if "ranks" in summary else ""
    kinds = [f"fields.{p}vt{kind}.series" for p in {"", pieces} for kind in "irs"]
    indices = [run / "fields" / kind for kind in kinds]
    index = next((index for index in indices if index.exists()), indices[0])
    fields = check_fields(index, summary["points"], summary["length"]) if index.parent.exists() else 0
    check_report(run / "report.html")
    size = " x ".join(str(n) for n in summary["points"])
    return f"{run}: {rows} rows, {fields} fields of {size} points, verdict: {summary['verdict']}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for run in sys.argv[1:]:
        try:
            print(read_back(Path(run)))
        except Wrong as wrong:
            sys.exit(f"error: {wrong}")


if __name__ == "__main__":
    main()
