"""Draw the vortices of a run: the surface of constant Q, coloured by the enstrophy.

    usage: q_criterion.py RUN_DIR PICTURE.png [TIME] [LEVEL]

RUN_DIR is a run in three dimensions that wrote `q_criterion` and `vorticity` among its fields, as `kolmo run taylor-green`
does; of its fields those nearest to TIME are drawn, the last ones where no time (or `-`) is given. The surface is that of
Q = LEVEL times the largest Q, 0.1 where nothing is given. Q = -1/2 du_i/dx_j du_j/dx_i (Hunt, Wray and Moin 1988) is
positive where the flow turns more than it is strained; the enstrophy is w.w / 2 of the vorticity w. It needs no display.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how), and where there is no
display EGL or OSMesa: apt install libegl1 libgl1-mesa-dri.
"""

import ctypes
import os
import sys
from pathlib import Path

import numpy
import pyvista
import vtk

from common import INK, field_files, nearest, number, read_fields, summary, title
from overview import refine

# Pixels of the picture, and what it is drawn with.
SIZE = (1200, 1000)
COLOURS = "viridis"
# Coarser grids than this are refined by their Fourier series before the surface is sought.
FINE = 128


def open_without_display():
    """Have VTK draw where there is no display, or say what is missing: it would end the program without a word."""
    if os.environ.get("DISPLAY"):
        return
    vtk.vtkObject.GlobalWarningDisplayOff()
    for library, window in (("libEGL.so.1", "vtkEGLRenderWindow"), ("libOSMesa.so.8", "vtkOSOpenGLRenderWindow")):
        try:
            ctypes.CDLL(library)
        except OSError:
            continue
        os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", window)
        return
    sys.exit("error: there is no display, no EGL and no OSMesa to draw with; apt install libegl1 libgl1-mesa-dri")


def surface(q, enstrophy, spacing, level):
    """The box, and the surface Q = level max(Q) in it with the enstrophy on it; smooth on coarse grids too."""
    times = max(1, FINE // max(q.shape))
    q, enstrophy = refine(q, times), refine(enstrophy, times)
    image = pyvista.ImageData(dimensions=q.shape[::-1], spacing=[h / times for h in spacing])
    image.point_data["q"] = q.ravel()
    image.point_data["enstrophy"] = enstrophy.ravel()
    return image, image.contour([level * q.max()], scalars="q")


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    run, picture = Path(sys.argv[1]), Path(sys.argv[2])
    time = number(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] != "-" else None
    level = number(sys.argv[4]) if len(sys.argv) > 4 else 0.1
    time, path = nearest(field_files(run), time)
    fields, spacing, _ = read_fields(path, ["q_criterion", "vorticity"])
    q = fields["q_criterion"]
    if min(q.shape) < 2 or not 0 < level < 1 or q.max() <= 0:
        sys.exit("error: a surface needs a flow in three dimensions that turns somewhere, and a level between 0 and 1")
    image, mesh = surface(q, (fields["vorticity"] ** 2).sum(axis=-1) / 2, spacing, level)

    open_without_display()
    plotter = pyvista.Plotter(off_screen=True, window_size=SIZE)
    plotter.background_color = "white"
    bar = {"title": "enstrophy, in V0^2/L^2", "color": INK, "n_labels": 4, "vertical": True, "position_x": 0.88, "position_y": 0.25}
    bar |= {"title_font_size": 24, "label_font_size": 20}
    ends = numpy.percentile(mesh["enstrophy"], (2, 98))
    plotter.add_mesh(mesh, scalars="enstrophy", cmap=COLOURS, clim=ends, smooth_shading=True, scalar_bar_args=bar)
    plotter.add_mesh(image.outline(), color=INK, line_width=1)
    text = f"{title(summary(run))}\nQ = {level:g} max Q, t = {time:g}"
    plotter.add_text(text, position="upper_left", font_size=14, color=INK)
    plotter.camera_position = "xy"
    plotter.camera.azimuth, plotter.camera.elevation = -32, 24
    plotter.reset_camera()
    plotter.screenshot(picture)


if __name__ == "__main__":
    main()
