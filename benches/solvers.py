"""Time steps of the Taylor-Green vortex by Kolmo and by PyFR, for `benches/peers solver`.

As a program, this file does one run of PyFR: `solvers.py MESH CONFIGURATION STEPS`; without arguments it checks the requirements of PyFR.
"""

import functools
import itertools
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

MACH, REYNOLDS, GAMMA, PRANDTL = 0.1, 1600.0, 1.4, 0.71  # in a periodic box of (2 pi)^3
ENERGY = 0.125  # mean of rho |u|^2 / 2 at the start
DISSIPATION = 2 * 0.375 / REYNOLDS  # at the start: twice the viscosity times the mean of |curl u|^2 / 2
ORDER = 3  # of the polynomials in an element
POINTS_PER_ELEMENT = ORDER + 1  # solution points per element along an axis
STAGES = 4
WARM_UP = 4
FORMS = {
    "Kennedy-Gruber, split pressure (the default)": ("kennedy-gruber", "split-pressure"),
    "Feiereisen, split enthalpy": ("feiereisen", "split-enthalpy"),
}
SETTINGS = [
    f"case.mach={MACH}",
    f"case.reynolds={REYNOLDS}",
    f"gas.gamma={GAMMA}",
    f"gas.prandtl={PRANDTL}",
    "scheme.derivative=compact6",
    "scheme.filter=none",
    "time.integrator=hale64",
]
LIBXSMM = (
    "build libxsmm 2 (https://github.com/libxsmm/libxsmm; `make STATIC=0 BLAS=0`) "
    "and set PYFR_XSMM_LIBRARY_PATH to its lib/libxsmm.so"
)


class Missing(Exception):
    """The error message for a missing requirement, with installation advice."""


class Failed(Exception):
    """The error message of a run without a time."""


def mesh(elements):
    """A periodic cube of elements^3 hexahedra in Gmsh's format 2.2."""
    ends = range(elements + 1)
    cells = range(elements)

    def node(i, j, k):
        return 1 + i + (elements + 1) * (j + (elements + 1) * k)

    def corners(origin, axes):
        """Nodes of a face or a cell, counter-clockwise, then the nodes of the opposite face."""
        square = [(0, 0), (1, 0), (1, 1), (0, 1)]
        for steps in [(*ab, c) for c in range(len(axes) - 1) for ab in square]:
            at = list(origin)
            for axis, step in zip(axes, steps):
                at[axis] += step
            yield node(*at)

    kinds = []  # Gmsh's number of the type, number of the name, nodes
    for at in itertools.product(cells, repeat=3):
        kinds.append((5, 1, corners(at, (0, 1, 2))))
    names = ['3 1 "fluid"']
    for axis, (end, side) in itertools.product(range(3), ((0, "l"), (elements, "r"))):
        name = len(names) + 1
        names.append(f'2 {name} "periodic_{"xyz"[axis]}_{side}"')
        across = [other for other in range(3) if other != axis]
        for a, b in itertools.product(cells, repeat=2):
            at = [end] * 3
            at[across[0]], at[across[1]] = a, b
            kinds.append((3, name, corners(at, across)))

    width = 2 * math.pi / elements
    nodes = [(node(i, j, k), i * width, j * width, k * width) for k in ends for j in ends for i in ends]
    yield "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    yield f"$PhysicalNames\n{len(names)}\n" + "\n".join(names) + "\n$EndPhysicalNames\n"
    yield f"$Nodes\n{len(nodes)}\n"
    yield from (f"{number} {x!r} {y!r} {z!r}\n" for number, x, y, z in nodes)
    yield f"$EndNodes\n$Elements\n{len(kinds)}\n"
    for number, (kind, name, found) in enumerate(kinds, 1):
        yield f"{number} {kind} 2 {name} {name} {' '.join(map(str, found))}\n"
    yield "$EndElements\n"


def configuration(points, precision, steps):
    """PyFR's input, and its end time. The time step is far below the stability limits."""
    dt = 0.05 / points
    end = (steps - 0.5) * dt  # half a step: round-off must not add one
    pressure = 1 / (GAMMA * MACH**2)
    return end, f"""
[backend]
precision = {"double" if precision == "f64" else "single"}
[constants]
gamma = {GAMMA}
mu = {1 / REYNOLDS!r}
Pr = {PRANDTL}
p0 = {pressure!r}
[solver]
system = navier-stokes
order = {ORDER}
anti-alias = none
shock-capturing = none
viscosity-correction = none
[solver-time-integrator]
formulation = std
scheme = rk4
controller = none
tstart = 0
tend = {end!r}
dt = {dt!r}
[solver-interfaces]
riemann-solver = rusanov
ldg-beta = 0.5
ldg-tau = 0.1
[solver-interfaces-quad]
flux-pts = gauss-legendre
[solver-elements-hex]
soln-pts = gauss-legendre
[soln-ics]
rho = 1
u = sin(x)*cos(y)*cos(z)
v = -cos(x)*sin(y)*cos(z)
w = 0
p = p0 + (cos(2*x) + cos(2*y))*(cos(2*z) + 2)/16
"""


def last_line(text):
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")


def pyfr(arguments, threads):
    """Output of a Python with PyFR."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment)
    if result.returncode == 2:
        raise Missing(last_line(result.stderr))
    if result.returncode != 0:
        raise Failed(f"PyFR ended with {result.returncode}: {last_line(result.stderr)}")
    return result.stdout


def of_pyfr(folder, n, precision, options):
    """Smallest and median time of a step in ns per point and stage."""
    steps = WARM_UP + options.repeats
    written = folder / f"{n}-{precision}.ini"
    end, text = configuration(n, precision, steps)
    written.write_text(text)
    found = json.loads(pyfr([__file__, str(folder / f"{n}.pyfrm"), str(written), str(steps)], options.threads))
    start, after = found["energy"]
    loss = (start - after) / end
    # NaN fails as well.
    if not (found["points"] == n**3 and abs(start / ENERGY - 1) < 0.001 and abs(loss / DISSIPATION - 1) < 0.1):
        result = f"{found['points']} points, a kinetic energy of {start:.5f} and a dissipation of {loss:.3e}"
        raise Failed(f"PyFR is wrong in {precision}: {result}; expected {n**3}, {ENERGY} and {DISSIPATION:.3e}; no time is reported")
    times = [1e9 * seconds / n**3 / STAGES for seconds in found["seconds"][WARM_UP:]]
    return min(times), statistics.median(times), STAGES, start, loss, found["busy"] / options.threads


def of_kolmo(kolmo, n, precision, options, forms):
    """As `of_pyfr`, by `kolmo bench step`."""
    arguments = ["bench", "step", "--backend", "cpu", "--json", "--points", str(n), "--precision", precision]
    arguments += ["--threads", str(options.threads), "--repeats", str(options.repeats)]
    for setting in [*SETTINGS, f"scheme.convection={forms[0]}", f"scheme.energy={forms[1]}"]:
        arguments += ["--set", setting]
    found = json.loads(kolmo(arguments))["results"][0]
    stage = found["ns_per_point_stage"]
    return stage["min"], stage["median"], round(found["ns_per_point"]["min"] / stage["min"])


def row(name, n, precision, options, found, peer):
    """The report: the smallest time of all rounds, and the median of the medians of the rounds."""
    minimum, median = min(one[0] for one in found), statistics.median(one[1] for one in found)
    over = {"min": minimum / peer["min"], "median": median / peer["median"]} if peer else None
    checked = {"kinetic_energy": found[0][3], "dissipation": found[0][4], "share_of_cores": min(one[5] for one in found)} if not peer else {}
    return {
        "name": name,
        "points": [n, n, n],
        "precision": precision,
        "threads": options.threads,
        "stages": found[0][2],
        "rounds": options.rounds,
        "repeats": options.repeats,
        "ns_per_point_stage": {"min": minimum, "median": median},
        "time_over_pyfr": over,
    } | checked


def of_size(kolmo, folder, n, options, version):
    """All results on n^3 points."""
    gmsh = folder / f"{n}.msh"
    with gmsh.open("w") as file:
        file.writelines(mesh(n // POINTS_PER_ELEMENT))
    pyfr(["-m", "pyfr", "import", str(gmsh), str(folder / f"{n}.pyfrm")], options.threads)
    peer = f"PyFR {version}"
    runs = {}  # PyFR first: the others are compared with it
    for precision in options.precisions:
        runs[peer, precision] = functools.partial(of_pyfr, folder, n, precision, options)
        for name, forms in FORMS.items():
            runs[f"kolmo, {name}", precision] = functools.partial(of_kolmo, kolmo, n, precision, options, forms)
    found = {run: [] for run in runs}
    for _ in range(options.rounds):
        for run, measured in runs.items():
            found[run].append(measured())
    rows, peers = [], {}
    for (name, precision), times in found.items():
        rows.append(row(name, n, precision, options, times, peers.get(precision)))
        peers.setdefault(precision, rows[-1]["ns_per_point_stage"])
    return rows


def compare(kolmo, options):
    """Rows and notes; `kolmo` takes arguments and returns the output of the program."""
    version = json.loads(pyfr([__file__], options.threads))["version"]
    notes = [
        "Both: compressible Navier-Stokes equations, constant viscosity, Taylor-Green vortex "
        f"(Mach {MACH}, Reynolds {REYNOLDS:.0f}) in a periodic cube,",
        f"{options.threads} threads on the host.",
        "Kolmo: compact differences of sixth order, no filter, hale64 (fourth order, 6 stages). A point is a point of the grid.",
        f"PyFR: flux reconstruction with polynomials of degree {ORDER} (fourth order) in hexahedra, Rusanov and LDG fluxes at faces,",
        f"classical Runge-Kutta (fourth order, {STAGES} stages), OpenMP and libxsmm. A point is a solution point: "
        f"{POINTS_PER_ELEMENT} x {POINTS_PER_ELEMENT} x {POINTS_PER_ELEMENT} in an element.",
        "The time per point and stage contains no information on accuracy or on the largest stable time step.",
    ]
    rows = []
    with tempfile.TemporaryDirectory(prefix="kolmo-peers-") as folder:
        for n in options.points:
            rows += of_size(kolmo, pathlib.Path(folder), n, options, version)
    for one in rows:
        if not one["time_over_pyfr"]:
            notes.append(
                f"Check of PyFR in {one['precision']} on {one['points'][0]}^3 points: kinetic energy {one['kinetic_energy']:.6f} at the start "
                f"({ENERGY} is exact), dissipation {one['dissipation']:.3e} ({DISSIPATION:.3e})."
            )
            if one["share_of_cores"] < 0.9:
                notes.append(
                    f"Its threads had {100 * one['share_of_cores']:.0f} % of their cores in one round: other processes ran, "
                    "and these times are unreliable. PyFR is affected more than Kolmo, since its threads wait for each other."
                )
    return rows, notes


def table(rows):
    print(f"{'':54}{'points':>7}{'precision':>11}{'stages':>8}{'ns':>9}{'median':>9}{'over PyFR':>11}{'of medians':>12}")
    for one in rows:
        minimum, median = one["ns_per_point_stage"]["min"], one["ns_per_point_stage"]["median"]
        over = [f"{ratio:.2f}" for ratio in (one["time_over_pyfr"] or {}).values()] or ["-", "-"]
        print(
            f"{one['name']:54}{one['points'][0]:7}{one['precision']:>11}{one['stages']:8}{minimum:9.2f}{median:9.2f}{over[0]:>11}{over[1]:>12}"
        )


def check_requirements():
    """PyFR's version, or an error that names a missing requirement."""
    try:
        import mpi4py.rc

        mpi4py.rc.initialize = False  # PyFR does it
        from pyfr import __version__
        from pyfr.ctypesutil import load_library
    except ImportError as why:
        raise Missing(f"PyFR cannot be loaded ({why}); pip install pyfr, into the Python that runs this script") from why
    if shutil.which("cc") is None:
        raise Missing("PyFR needs a C compiler `cc`, which is missing; apt-get install gcc libc6-dev")
    try:
        from pyfr.mpiutil import init_mpi

        init_mpi()
    except (ImportError, RuntimeError) as why:
        raise Missing(f"PyFR needs MPI, which cannot be loaded ({why}); apt-get install openmpi-bin libopenmpi-dev") from why
    try:
        library = load_library("xsmm")
    except OSError as why:
        raise Missing(f"PyFR needs libxsmm, which cannot be loaded ({why}); {LIBXSMM}") from why
    if not hasattr(library, "libxsmm_fsspmdm_create"):
        raise Missing(f"PyFR needs a newer libxsmm than the installed one; {LIBXSMM}")
    return __version__


def energy(solver):
    """Mean kinetic energy per unit volume, and the number of points; all elements are equal cubes with Gauss-Legendre points."""
    import numpy

    (state,) = solver.soln  # points of an element, conserved variables, elements
    along = numpy.polynomial.legendre.leggauss(POINTS_PER_ELEMENT)[1] / 2
    weights = numpy.einsum("i,j,k->ijk", along, along, along).ravel()
    state = state.astype("float64")
    local = (state[:, 1:4] ** 2).sum(axis=1) / (2 * state[:, 0])
    return float((weights @ local).mean()), local.size


def one_run(mesh_file, configuration_file, steps):
    """Seconds of every step."""
    from pyfr.backends import get_backend
    from pyfr.inifile import Inifile
    from pyfr.readers.native import NativeReader
    from pyfr.solvers import get_solver

    with open(configuration_file, encoding="utf-8") as file:
        settings = Inifile(file.read())
    solver = get_solver(get_backend("openmp", settings), NativeReader(mesh_file).mesh, None, settings)
    start, points = energy(solver)
    stamps, used = [time.perf_counter()], [time.process_time()]

    def stamp(_):
        stamps.append(time.perf_counter())
        used.append(time.process_time())

    solver.plugins.append(stamp)
    solver.run()
    if len(stamps) != steps + 1:
        raise RuntimeError(f"PyFR took {len(stamps) - 1} steps instead of {steps}")
    busy = (used[-1] - used[WARM_UP]) / (stamps[-1] - stamps[WARM_UP])  # cores, without the initial compilation
    seconds = [after - before for before, after in itertools.pairwise(stamps)]
    return {"seconds": seconds, "energy": [start, energy(solver)[0]], "points": points, "busy": busy}


def main():
    try:
        version = check_requirements()
    except Missing as why:
        print(" ".join(str(why).split()), file=sys.stderr)
        sys.exit(2)
    if len(sys.argv) == 1:
        print(json.dumps({"version": version}))
    else:
        print(json.dumps(one_run(sys.argv[1], sys.argv[2], int(sys.argv[3]))))


if __name__ == "__main__":
    main()
