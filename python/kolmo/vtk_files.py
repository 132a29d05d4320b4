"""Reader for the VTK XML files of a run, without VTK.

A file has an XML header and arrays in Base64, each preceded by its number of bytes (see `src/io/vtk.rs`). The file is mapped into
memory, and only the requested arrays are decoded. The kinds are image data (`.vti`), rectilinear grids (`.vtr`), structured grids
(`.vts`), and the files that join the pieces of several ranks (`.pvti`, `.pvtr`, `.pvts`).
"""

import base64
import binascii
import math
import mmap
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from kolmo import columns
from kolmo.errors import KolmoError

if TYPE_CHECKING:
    import xarray

_ATTRIBUTE = re.compile(rb'(\w+)="([^"]*)"')
# The start of an array, with the number of bytes of its values, and the text after its end.
_LENGTH, _END = re.compile(rb"\s*([A-Za-z0-9+/]{11}[A-Za-z0-9+/=])"), re.compile(rb"\s*<")
_TYPES = {"Float32": "<f4", "Float64": "<f8"}
# Field data: flags along x, y, z; if set, the last points repeat the first ones.
_REPEATS = "last_plane_repeats_first"


@dataclass
class _Array:
    """An array of a file: type, components per point, and position of its Base64 text."""

    kind: str
    components: int
    place: slice


@dataclass
class _File:
    """The header of a file. Extents are first and last index along x, y, z."""

    kind: str = ""
    extent: tuple[int, ...] = ()
    part: tuple[int, ...] = ()
    origin: tuple[float, ...] = ()
    spacing: tuple[float, ...] = ()
    repeats: list[bool] = field(default_factory=lambda: [False] * 3)
    fields: dict[str, _Array] = field(default_factory=dict)
    places: dict[str, _Array] = field(default_factory=dict)
    pieces: list[tuple[tuple[int, ...], str]] = field(default_factory=list)


def read(path: Path, names: str | Sequence[str] | None = None, closed: bool = False) -> "xarray.Dataset":
    """Read the fields of a file, of one rank or of several.

    Args:
        path: A `.vti`, `.vtr`, `.vts`, or a `.pvti`, `.pvtr`, `.pvts` next to its pieces.
        names: The field or fields to read; None reads all of them.
        closed: Whether to include the points that close the period, after the last points of a periodic axis. A Fourier
            transform or a mean needs the n points of the grid without them; a picture needs them.

    Returns:
        Fields of shape (nz, ny, nx), vectors (nz, ny, nx, 3), with the coordinates `x`, `y`, `z` in L. On a curvilinear grid
        the dimensions are (z, j, i) and `x`, `y` have the shape (ny, nx).
    """
    import xarray

    names = columns.names_of(names)
    with _Mapped(path) as (head, data):
        kept = _kept_slices(head, closed)
        found = _fields(path, head, names, data)
        coordinates = _coordinates(path, head, kept, data)
    curved = head.kind.endswith("StructuredGrid")
    dimensions = ("z", "j", "i") if curved else ("z", "y", "x")
    variables = {}
    for name, values in found.items():
        # A copy frees the memory of the points that are not returned.
        values = numpy.array(values[kept])
        meaning = columns.of_field(name)
        notes = {"long_name": meaning.what, "units": meaning.unit} if meaning else {}
        more = ("component",) if values.ndim == 4 else ()
        variables[name] = xarray.DataArray(values, dims=dimensions + more, attrs=notes)
    dataset = xarray.Dataset(variables, coords=coordinates)
    if any(values.ndim == 4 for values in found.values()):
        dataset = dataset.assign_coords(component=["x", "y", "z"])
    return dataset


class _Mapped:
    """Context manager for the header of a file and its mapped bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> tuple[_File, mmap.mmap]:
        try:
            self.file = self.path.open("rb")
            self.data = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as why:
            raise KolmoError(f"{self.path} cannot be read: {why}") from why
        try:
            return _header(self.path, self.data), self.data
        except (KeyError, ValueError) as why:
            raise KolmoError(f"{self.path} is damaged: its header lacks {why}") from why

    def __exit__(self, *_: object) -> None:
        self.data.close()
        self.file.close()


def _header(path: Path, data: mmap.mmap) -> _File:
    """Parse all tags of a file; of the arrays between them only the lengths are read."""
    head, section, tag, at = _File(), "", "", 0
    while (start := data.find(b"<", at)) >= 0:
        at = data.find(b">", start) + 1
        if at == 0:
            break
        text = data[start + 1 : at - 1]
        tag = (text.split() or [b""])[0].decode()
        attributes = {name.decode(): one.decode() for name, one in _ATTRIBUTE.findall(text)}
        if tag == "VTKFile":
            head.kind = attributes["type"]
        elif tag == head.kind:
            head.extent = _numbers(attributes["WholeExtent"], int)
            head.origin = _numbers(attributes.get("Origin", "0 0 0"), float)
            head.spacing = _numbers(attributes.get("Spacing", "1 1 1"), float)
        elif tag == "Piece" and "Source" in attributes:
            head.pieces.append((_numbers(attributes["Extent"], int), attributes["Source"]))
        elif tag == "Piece":
            head.part = _numbers(attributes["Extent"], int)
        elif tag in ("FieldData", "PointData", "Coordinates", "Points"):
            section = tag
        elif tag == "DataArray" and section == "FieldData":
            if attributes["Name"] == _REPEATS:
                head.repeats = [word != b"0" for word in data[at : data.find(b"<", at)].split()]
        elif tag == "DataArray":
            place = _base64(data, at)
            at = place.stop
            if not _END.match(data, at):
                break
            array = _Array(attributes["type"], int(attributes.get("NumberOfComponents", 1)), place)
            if section == "PointData":
                head.fields[attributes["Name"]] = array
            elif section in ("Coordinates", "Points"):
                head.places[attributes["Name"]] = array
    if tag != "/VTKFile":
        raise KolmoError(f"{path} is cut off or damaged, or is not a VTK XML file")
    return head


def _base64(data: mmap.mmap, at: int) -> slice:
    """Return the position of the Base64 text of an array, whose first 8 bytes count the bytes that follow; empty if there is none."""
    begin = _LENGTH.match(data, at)
    if begin is None:
        return slice(at, at)
    length = 8 + int.from_bytes(base64.b64decode(begin[1])[:8], "little")
    return slice(begin.start(1), min(begin.start(1) + 4 * -(-length // 3), len(data)))


def _numbers(text: str, kind: type) -> tuple:
    return tuple(kind(word) for word in text.split())


def _shape(extent: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the number of points along z, y, x."""
    x, y, z = (last - first + 1 for first, last in zip(extent[::2], extent[1::2]))
    return z, y, x


def _kept_slices(head: _File, closed: bool) -> tuple[slice, ...]:
    """Return the slices along z, y, x of the points that are returned to the caller."""
    return tuple(slice(-1 if repeats and not closed else None) for repeats in head.repeats[::-1])


def _decode(path: Path, array: _Array, data: mmap.mmap, points: int) -> numpy.ndarray:
    """Decode the values of an array of `points` points."""
    try:
        bytes_ = base64.b64decode(data[array.place])
        values = numpy.frombuffer(bytes_, dtype=_TYPES[array.kind], offset=8)
    except (binascii.Error, KeyError, ValueError) as why:
        raise KolmoError(f"{path} is damaged: {why}") from why
    if values.size != points * array.components:
        raise KolmoError(f"{path} is damaged: {values.size} values of {points} points")
    return values


def _fields(path: Path, head: _File, names: Sequence[str] | None, data: mmap.mmap) -> dict[str, numpy.ndarray]:
    """Read the fields at all points of the file, [k, j, i] or [k, j, i, component]."""
    if head.pieces:
        return _join_pieces(path, head, names)
    found = {}
    for name in head.fields if names is None else names:
        if name not in head.fields:
            held = ", ".join(sorted(head.fields)) or "nothing"
            raise KolmoError(f"{path} holds no `{name}`, but {held}; add it to output.fields.variables")
        array, shape = head.fields[name], _shape(head.part)
        more = (array.components,) if array.components > 1 else ()
        found[name] = _decode(path, array, data, math.prod(shape)).reshape(shape + more)
    return found


def _join_pieces(path: Path, head: _File, names: Sequence[str] | None) -> dict[str, numpy.ndarray]:
    """Join the fields of pieces; adjacent pieces share a layer of points."""
    whole: dict[str, numpy.ndarray] = {}
    for extent, source in head.pieces:
        piece = path.parent / source
        with _Mapped(piece) as (part, data):
            for name, values in _fields(piece, part, names, data).items():
                if name not in whole:
                    whole[name] = numpy.empty(_shape(head.extent) + values.shape[3:], values.dtype)
                whole[name][_piece_slices(extent, head)] = values
    return whole


def _piece_slices(extent: tuple[int, ...], head: _File) -> tuple[slice, ...]:
    """Return the slices along z, y, x of a piece within the complete grid."""
    along = zip(extent[::2], extent[1::2], head.extent[::2])
    return tuple(slice(first - start, last - start + 1) for first, last, start in along)[::-1]


def _coordinates(path: Path, head: _File, kept: tuple[slice, ...], data: mmap.mmap) -> dict[str, object]:
    """Return x, y and z of the points that are returned to the caller, as coordinates of a Dataset."""
    length = {"units": "L"}
    if head.kind.endswith("ImageData"):
        x, y, z = (
            origin + spacing * numpy.arange(points)
            for origin, spacing, points in zip(head.origin, head.spacing, _shape(head.extent)[::-1])
        )
    elif head.kind.endswith("RectilinearGrid"):
        x, y, z = _axis_coordinates(path, head, data)
    else:
        x, y, z = _points(path, head, data)
        plane = ("j", "i")
        return {"x": (plane, x[kept[1:]], length), "y": (plane, y[kept[1:]], length), "z": ("z", z[kept[0]], length)}
    named = zip("zyx", (z, y, x), kept)
    return {axis: (axis, values[part], length) for axis, values, part in named}


def _axis_coordinates(path: Path, head: _File, data: mmap.mmap) -> list[numpy.ndarray]:
    """Return the coordinates along x, y, z of a rectilinear grid."""
    if not head.pieces:
        points = _shape(head.part)[::-1]
        return [_decode(path, head.places[axis], data, n) for axis, n in zip("xyz", points)]
    whole = [numpy.empty(n) for n in _shape(head.extent)[::-1]]
    for extent, source in head.pieces:
        piece = path.parent / source
        with _Mapped(piece) as (part, piece_data):
            for values, found, inside in zip(whole, _axis_coordinates(piece, part, piece_data), _piece_slices(extent, head)[::-1]):
                values[inside] = found
    return whole


def _points(path: Path, head: _File, data: mmap.mmap) -> tuple[numpy.ndarray, ...]:
    """Return x and y [j, i] and z [k] of a structured grid, whose x and y are the same at every z."""
    if not head.pieces:
        shape = _shape(head.part)
        points = _decode(path, head.places["Points"], data, math.prod(shape)).reshape(shape + (3,))
        return points[0, :, :, 0], points[0, :, :, 1], points[:, 0, 0, 2]
    nz, ny, nx = _shape(head.extent)
    x, y, z = numpy.empty((ny, nx)), numpy.empty((ny, nx)), numpy.empty(nz)
    for extent, source in head.pieces:
        piece = path.parent / source
        with _Mapped(piece) as (part, piece_data):
            inside = _piece_slices(extent, head)
            x[inside[1:]], y[inside[1:]], z[inside[0]] = _points(piece, part, piece_data)
    return x, y, z
