"""Draw a run in one picture: the vortices, the vorticity in a plane, and the dissipation against the reference.

    usage: overview.py RUN_DIR PICTURE.png [TIME]

RUN_DIR is a run of a three-dimensional flow that wrote the fields `q_criterion` and `vorticity`, as
`kolmo run taylor-green` does. The fields nearest to TIME are drawn, by default the last ones.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

from common import kolmo, number, plt, script, spacing

import numpy
import vtk
from kolmo.plot import INK, REFERENCE, RUN, magnitude
from kolmo.surfaces import refine
from matplotlib.colors import Normalize
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

# The surface Q = LEVEL max(Q) is drawn, on a grid REFINE times as fine along each axis.
LEVEL, REFINE = 0.18, 2


def surface(q, colour, spacing):
    """Return the triangles of the surface of constant Q with their normals and their values of `colour`."""
    image = vtk.vtkImageData()
    image.SetDimensions(*q.shape[::-1])
    image.SetSpacing(*spacing)
    for name, values in (("q", q), ("colour", colour)):
        array = numpy_to_vtk(values.ravel(), deep=True)
        array.SetName(name)
        image.GetPointData().AddArray(array)
    image.GetPointData().SetActiveScalars("q")
    contour = vtk.vtkContourFilter()
    contour.SetInputData(image)
    contour.SetValue(0, LEVEL * q.max())
    contour.ComputeNormalsOn()
    contour.Update()
    mesh = contour.GetOutput()
    triangles = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    points = vtk_to_numpy(mesh.GetPoints().GetData())
    normals = vtk_to_numpy(mesh.GetPointData().GetNormals())
    values = vtk_to_numpy(mesh.GetPointData().GetArray("colour"))
    return points[triangles], normals[triangles].mean(axis=1), values[triangles].mean(axis=1)


def draw_vortices(axes, q, omega, spacing):
    fine = [h / REFINE for h in spacing]
    corners, normals, values = surface(refine(q, REFINE), refine(omega, REFINE), fine)
    light = numpy.array([0.35, -0.75, 0.55])
    shade = 0.45 + 0.55 * numpy.abs(normals @ light) / numpy.linalg.norm(light)
    colours = plt.get_cmap("viridis")(Normalize(*numpy.percentile(values, (2, 98)))(values))
    colours[:, :3] *= shade[:, None]
    axes.add_collection3d(Poly3DCollection(corners, facecolors=colours, edgecolors=colours, linewidths=0.2))
    length = [h * n for h, n in zip(spacing, q.shape[::-1])]
    axes.set(xlim=(0, length[0]), ylim=(0, length[1]), zlim=(0, length[2]))
    axes.set_box_aspect(length, zoom=1.3)
    axes.view_init(elev=24, azim=-58)
    axes.set_axis_off()


def draw_plane(axes, omega, spacing):
    """Draw the vorticity in the plane of constant x through the middle of the box."""
    plane = omega[:, :, omega.shape[2] // 2]
    extent = (0, spacing[1] * plane.shape[1], 0, spacing[2] * plane.shape[0])
    axes.imshow(plane, origin="lower", extent=extent, cmap="viridis", interpolation="bicubic")
    axes.set(xlabel="y", ylabel="z")
    axes.spines[:].set_visible(False)


def draw_dissipation(axes, run, time):
    series, reference, loss = run.series, run.reference, run.energy_loss
    if reference is not None:
        reference = reference[reference["time"] <= series["time"].max()]
        style = {"color": REFERENCE, "linestyle": "none", "marker": "o", "markersize": 4, "markerfacecolor": "none"}
        axes.plot(reference["time"][::2], reference["dissipation"][::2], label="reference", **style)
    axes.plot(series["time"], loss, color=RUN, label="this run")
    axes.axvline(time, color=INK, linewidth=0.8, linestyle=":")
    axes.set(xlabel="time", xlim=(0, series["time"].max()), ylim=(0, None))
    axes.legend(frameon=False, loc="lower center")
    axes.spines[["top", "right"]].set_visible(False)


def main(run, picture, time=None):
    run = kolmo.open(run)
    fields = run.fields(None if time is None else number(time), ["q_criterion", "vorticity"])
    q, omega = fields["q_criterion"].values, magnitude(fields["vorticity"]).values
    lengths, time = spacing(run, fields), float(fields.time)

    figure = plt.figure(figsize=(13, 4.3), layout="constrained")
    figure.suptitle(run.title)
    grid = figure.add_gridspec(1, 3, width_ratios=(1.15, 1, 1.25))
    vortices = figure.add_subplot(grid[0], projection="3d")
    draw_vortices(vortices, q, omega, lengths)
    vortices.set_title(f"vortices (Q-criterion), t = {time:g}")
    plane = figure.add_subplot(grid[1])
    draw_plane(plane, omega, lengths)
    plane.set_title(f"vorticity in the middle plane, t = {time:g}")
    curve = figure.add_subplot(grid[2])
    draw_dissipation(curve, run, time)
    curve.set_title("dissipation of kinetic energy")
    figure.savefig(picture, dpi=100, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    script(main, __doc__, 2, 3)
