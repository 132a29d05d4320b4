"""Fields as grids of PyVista, and surfaces of them."""

import ctypes
import os
import sys
from typing import TYPE_CHECKING

import numpy

from kolmo.errors import KolmoError, needs
from kolmo.runs import check_one

try:
    import pyvista
    import vtk
except ImportError as why:
    raise needs("PyVista", "plot", why) from why

if TYPE_CHECKING:
    import xarray

    from kolmo.runs import Run

# Pixels of a picture, its colour map and the colour of its text.
_SIZE = (1200, 1000)
_COLOURS, _INK = "viridis", "#1a1a1a"
# Grids with fewer points along every axis are refined by Fourier interpolation before a surface is computed.
_MIN_POINTS = 128


def grid(fields: "xarray.Dataset") -> "pyvista.DataSet":
    """Return fields and their points as a PyVista grid: equally spaced, rectilinear or structured.

    Args:
        fields: Fields from `Run.fields` at one time; with `closed=True` there is no gap at the end of a period.
    """
    x, y, z = (fields[axis].values for axis in "xyz")
    if x.ndim == 2:
        points = numpy.broadcast_arrays(x, y, z[:, None, None])
        dataset = pyvista.StructuredGrid(*(of.transpose(2, 1, 0) for of in points))
    elif all(_is_uniform(of) for of in (x, y, z)):
        spacing = [of[1] - of[0] if of.size > 1 else 1.0 for of in (x, y, z)]
        dataset = pyvista.ImageData(dimensions=(x.size, y.size, z.size), spacing=spacing, origin=(x[0], y[0], z[0]))
    else:
        dataset = pyvista.RectilinearGrid(x, y, z)
    for name, field in fields.data_vars.items():
        dataset.point_data[name] = field.values.reshape(-1, 3) if "component" in field.dims else field.values.ravel()
    return dataset


def refine(values: numpy.ndarray, times: int) -> numpy.ndarray:
    """Interpolate a periodic field of shape (nz, ny, nx) to `times` as many points along each axis, with the period closed."""
    for axis in range(3):
        n = values.shape[axis]
        modes = numpy.fft.rfft(values, axis=axis)
        if n % 2 == 0 and times > 1:
            # The shortest wave, cos(πi) at point i, is half of each of ±n/2 on a finer grid (src/fourier/resample.rs).
            modes[(slice(None),) * axis + (n // 2,)] *= 0.5
        values = numpy.fft.irfft(modes, n * times, axis=axis) * times
    return numpy.pad(values, [(0, 1)] * 3, mode="wrap")


def vortices(run: "Run", time: float | None = None, level: float = 0.1, off_screen: bool = True) -> "pyvista.Plotter":
    """Return the surface of constant Q, coloured by the enstrophy, as a PyVista plotter.

    Q = -∂uᵢ/∂xⱼ ∂uⱼ/∂xᵢ / 2 (Hunt, Wray and Moin 1988) is positive where rotation exceeds strain; the enstrophy
    is ω·ω/2, with the vorticity ω.

    Args:
        run: A run in three dimensions that wrote `q_criterion` and `vorticity`.
        time: Draw the fields nearest to this time; None draws the last ones.
        level: Q on the surface relative to the largest Q.
        off_screen: Draw for pictures and notebooks only; if false, also for a window.
    """
    check_one(time)
    names = ["q_criterion", "vorticity"]
    fields = run.fields(time, names)
    closed = run.fields(float(fields.time), names, closed=True)
    q = fields["q_criterion"]
    if min(q.shape) < 2 or not 0 < level < 1 or q.max() <= 0:
        raise KolmoError("a surface needs a flow in three dimensions with Q > 0 somewhere, and a level between 0 and 1")
    shown = grid(closed.assign(enstrophy=(closed["vorticity"] ** 2).sum("component") / 2))
    is_periodic = all(closed.sizes[axis] > points for axis, points in q.sizes.items())
    if is_periodic and isinstance(shown, pyvista.ImageData):
        shown = _refined(q.values, (fields["vorticity"] ** 2).sum("component").values / 2, shown.spacing)
    mesh = shown.contour([level * shown["q_criterion"].max()], scalars="q_criterion")

    if off_screen:
        open_without_display()
    plotter = pyvista.Plotter(off_screen=off_screen, window_size=_SIZE)
    plotter.background_color = "white"
    # The title has two lines, because a longer line overlaps the picture and is cut off.
    bar = {"title": "enstrophy,\nin V0^2/L^2", "color": _INK, "n_labels": 4, "vertical": True}
    bar |= {"title_font_size": 20, "label_font_size": 18, "position_x": 0.88, "position_y": 0.25}
    limits = numpy.percentile(mesh["enstrophy"], (2, 98))
    plotter.add_mesh(mesh, scalars="enstrophy", cmap=_COLOURS, clim=limits, smooth_shading=True, scalar_bar_args=bar)
    plotter.add_mesh(shown.outline(), color=_INK, line_width=1)
    text = f"{run.title}\nQ = {level:g} max Q, t = {float(fields.time):g}"
    plotter.add_text(text, position="upper_left", font_size=14, color=_INK)
    plotter.camera_position = "xy"
    plotter.camera.azimuth, plotter.camera.elevation = -32, 24
    plotter.reset_camera()
    return plotter


def _refined(q: numpy.ndarray, enstrophy: numpy.ndarray, spacing: tuple[float, ...]) -> "pyvista.ImageData":
    """Interpolate both fields to a grid that is fine enough for a smooth surface."""
    times = max(1, _MIN_POINTS // max(q.shape))
    fine = refine(q, times)
    image = pyvista.ImageData(dimensions=fine.shape[::-1], spacing=[h / times for h in spacing])
    image.point_data["q_criterion"] = fine.ravel()
    image.point_data["enstrophy"] = refine(enstrophy, times).ravel()
    return image


def open_without_display() -> None:
    """Make VTK draw without a display, or report the missing library: VTK itself would end the process without a message."""
    if os.environ.get("DISPLAY") or not sys.platform.startswith("linux"):
        return
    vtk.vtkObject.GlobalWarningDisplayOff()
    for library, window in (("libEGL.so.1", "vtkEGLRenderWindow"), ("libOSMesa.so.8", "vtkOSOpenGLRenderWindow")):
        try:
            ctypes.CDLL(library)
        except OSError:
            continue
        os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", window)
        return
    raise KolmoError("there is no display, no EGL and no OSMesa to draw with; apt install libegl1 libgl1-mesa-dri")


def _is_uniform(coordinates: numpy.ndarray) -> bool:
    """Return whether the points are equally spaced."""
    steps = numpy.diff(coordinates)
    return coordinates.ndim == 1 and (steps.size == 0 or numpy.ptp(steps) < 1e-9 * abs(steps).max())
