"""Sweeps over blocks by Kolmo, by MKL and by SciPy, for `benches/peers blocks`."""

import ctypes
import functools
import importlib.metadata
import itertools
import json
import math
import pathlib
import re
import statistics
import time
from typing import Any, Callable, NamedTuple

import numpy
import scipy
from scipy.sparse import bsr_matrix, csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from solvers import Failed, Missing

WARM_UP = 3
MIN_SECONDS = 2e-3  # seconds per repeat
SAMPLES = 300  # rows that are compared with a plain sweep
REALS = {"f64": numpy.float64, "f32": numpy.float32}
INSTALL = "pip install mkl, into the Python that runs this script"
# From mkl_spblas.h and mkl_cblas.h.
ZERO_BASED, BY_COLUMNS, NOT_TRANSPOSED, CALLS = 0, 102, 10, 1000


class Mesh(NamedTuple):
    """Rows in the order of their colours: their blocks, and the limits of the colours."""

    points: list
    starts: Any
    columns: Any
    ends: list

    @property
    def rows(self):
        return len(self.starts) - 1


class System(NamedTuple):
    mesh: Mesh
    nb: int
    blocks: Any  # off the diagonal, each row by row
    diagonal: Any
    b: Any
    start: Any

    def colours(self):
        """For every colour, its unknowns and its blocks as a matrix of compressed rows."""
        _, starts, columns, ends = self.mesh
        for first, end in itertools.pairwise(ends):
            own = slice(starts[first], starts[end])
            rows = (starts[first : end + 1] - starts[first]).astype("int32")
            yield slice(first, end), (rows, columns[own], self.blocks[own])

    def inverses(self):
        """For every colour, the inverses of the diagonal blocks as a matrix of compressed rows."""
        for first, end in itertools.pairwise(self.mesh.ends):
            inverse = numpy.linalg.inv(self.diagonal[first:end])
            yield numpy.arange(end - first + 1, dtype="int32"), numpy.arange(end - first, dtype="int32"), inverse

    def of(self, own):
        """The unknowns of these rows."""
        return slice(own.start * self.nb, own.stop * self.nb)


class Method(NamedTuple):
    """Method by which a library solves a system."""

    name: str
    threads: int
    x: Any  # modified by a sweep
    sweep: Callable
    products: Callable  # with the off-diagonal blocks, without the rest of a sweep


def splitmix(z):
    """As src/splitmix.rs."""
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return z ^ (z >> numpy.uint64(31))


def tetrahedra(points):
    """Graph of a box cut into tetrahedra as in src/bench/blocks/mesh.rs."""
    rows = numpy.arange(math.prod(points))
    strides = [1, points[0], points[0] * points[1]]
    index = [rows // stride % count for stride, count in zip(strides, points)]
    label = splitmix(rows.astype("uint64") * numpy.uint64(0x9E3779B97F4A7C15))
    edges = []
    for bits in range(1, 8):
        axes = [axis for axis in range(3) if bits >> axis & 1]
        first = rows[numpy.logical_and.reduce([index[axis] + 1 < points[axis] for axis in axes])]
        steps = [[0, strides[axis]] for axis in reversed(axes)]
        corners = numpy.array([sum(corner) for corner in itertools.product(*steps)])
        smallest = label[first[:, None] + corners].argmin(axis=1)
        edges.append([first + corners[smallest], first + corners[::-1][smallest]])
    a, b = numpy.concatenate(edges, axis=1)
    both = numpy.concatenate([a, b]), numpy.concatenate([b, a])
    return csr_matrix((numpy.ones(2 * len(a), dtype="int8"), both), shape=(len(rows), len(rows)))


def coloured(points):
    """Rows in reverse Cuthill-McKee order, each with the first colour that no neighbour has, as in src/blocks/colouring.rs."""
    graph = tetrahedra(points)
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    starts, columns = graph.indptr.tolist(), graph.indices.tolist()
    colour = [-1] * len(order)
    for row in order.tolist():
        taken = {colour[column] for column in columns[starts[row] : starts[row + 1]]}
        colour[row] = next(free for free in itertools.count() if free not in taken)
    colour = numpy.array(colour)
    order = order[numpy.argsort(colour[order], kind="stable")]
    graph = graph[order][:, order].tocsr()
    graph.sort_indices()
    ends = [0, *itertools.accumulate(numpy.bincount(colour).tolist())]
    return Mesh(points, graph.indptr.astype("int32"), graph.indices.astype("int32"), ends)


def random_system(mesh, nb, precision):
    """Random blocks with dominant diagonal blocks."""
    numbers = numpy.random.default_rng(1)

    def noise(*shape):
        return numbers.random(shape, dtype=REALS[precision]) - REALS[precision](0.5)

    blocks, diagonal = noise(len(mesh.columns), nb, nb), noise(mesh.rows, nb, nb)
    weight = 0.5 * nb * (numpy.diff(mesh.starts) + 1)
    diagonal[:, range(nb), range(nb)] += weight[:, None].astype(diagonal.dtype)
    return System(mesh, nb, blocks, diagonal, noise(mesh.rows * nb), noise(mesh.rows * nb))


def min_bytes(mesh, nb, block_bytes, others):
    """`Factored::bytes` of Kolmo: blocks, columns, factors, pivots and b once, x read and written.

    `block_bytes` and `others` are bytes per number of the off-diagonal blocks and of all other data.
    """
    return mesh.rows * (nb * nb * others + 2 * nb + 3 * nb * others) + len(mesh.columns) * (nb * nb * block_bytes + 4)


def error(system, new):
    """The largest residual of some rows after the first sweep, in f64, as a fraction of the sum of the sizes of their terms."""
    mesh, nb, blocks, diagonal, b, start = system
    worst = 0.0
    for row in {*range(0, mesh.rows, -(-mesh.rows // SAMPLES)), mesh.rows - 1}:
        terms = [-b[row * nb :][:nb].astype("float64")]
        own = range(mesh.starts[row], mesh.starts[row + 1])
        for column, block in [*((mesh.columns[at], blocks[at]) for at in own), (row, diagonal[row])]:
            x = new if column <= row else start
            terms += list((block.astype("float64") * x[column * nb :][:nb].astype("float64")).T)
        worst = max(worst, float((abs(sum(terms)) / sum(map(abs, terms))).max()))
    return worst


class Kind(ctypes.Structure):
    """A `matrix_descr` of a general matrix, for which only the type matters."""

    _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diagonal", ctypes.c_int)]


GENERAL = Kind(20, 40, 50)


class Mkl:
    """The functions of MKL for one precision, and the matrices that it owns."""

    def __init__(self, library, real):
        self.library = library
        self.letter, self.real = ("d", ctypes.c_double) if real == numpy.float64 else ("s", ctypes.c_float)
        self.kept, self.matrices = [], []  # memory that MKL refers to, and matrices that it has created

    def function(self, name):
        """A function that returns a status; `?` in the name is the precision."""
        found = self.library[name.replace("?", self.letter)]
        found.errcheck = functools.partial(self.succeeded, name)
        return found

    @staticmethod
    def succeeded(name, status, _function, _arguments):
        if status != 0:
            raise Failed(f"{name} of MKL ended with status {status}")

    def address(self, array):
        self.kept.append(array)
        return ctypes.c_void_p(array.ctypes.data)

    def matrix(self, rows, columns, blocks, width):
        """Compressed rows of blocks with `width` columns of blocks. MKL is fastest with column-major blocks."""
        matrix = ctypes.c_void_p()
        by_columns = numpy.ascontiguousarray(blocks.transpose(0, 2, 1))
        shape = [ctypes.c_int(number) for number in (len(rows) - 1, width, blocks.shape[1])]
        arrays = map(self.address, (rows, rows[1:], columns, by_columns))
        create = self.function("mkl_sparse_?_create_bsr")
        create(ctypes.byref(matrix), ctypes.c_int(ZERO_BASED), ctypes.c_int(BY_COLUMNS), *shape, *arrays)
        self.matrices.append(matrix)
        self.function("mkl_sparse_set_mv_hint")(matrix, ctypes.c_int(NOT_TRANSPOSED), GENERAL, ctypes.c_int(CALLS))
        self.function("mkl_sparse_optimize")(matrix)
        return matrix

    def product(self, matrix, alpha, x, beta, y):
        """Returns a function for y <- alpha A x + beta y."""
        numbers = self.real(alpha), matrix, GENERAL, self.address(x), self.real(beta), self.address(y)
        return functools.partial(self.function("mkl_sparse_?_mv"), ctypes.c_int(NOT_TRANSPOSED), *numbers)

    def factored(self, diagonal):
        """L and U of blocks, and pivots."""
        (count, nb, _), info = diagonal.shape, numpy.zeros(len(diagonal), dtype="int32")
        factors, pivots = numpy.ascontiguousarray(diagonal.transpose(0, 2, 1)), numpy.zeros((count, nb), dtype="int32")
        size, of_block, many = (ctypes.byref(ctypes.c_int(number)) for number in (nb, nb * nb, count))
        arrays = [self.address(array) for array in (factors, pivots, info)]
        factor = self.library[f"{self.letter}getrf_batch_strided"]
        factor(size, size, arrays[0], size, of_block, arrays[1], size, many, arrays[2])
        if info.any():
            raise Failed("getrf_batch_strided of MKL finds a singular block")
        return factors, pivots

    def solve(self, factors, pivots, y):
        """Returns a function that solves with all factors in place."""
        count, nb, _ = factors.shape
        size, of_block, many, one = (ctypes.byref(ctypes.c_int(number)) for number in (nb, nb * nb, count, 1))
        info = self.address(numpy.zeros(count, dtype="int32"))
        arrays = [self.address(array) for array in (factors, pivots, y)]
        matrix = [arrays[0], size, of_block, arrays[1], size]
        function = self.library[f"{self.letter}getrs_batch_strided"]
        return functools.partial(function, ctypes.c_char_p(b"N"), size, one, *matrix, arrays[2], size, size, many, info)

    def release(self):
        for matrix in self.matrices:
            self.function("mkl_sparse_destroy")(matrix)
        self.matrices.clear()
        self.kept.clear()


def sequence(calls):
    def work():
        for call in calls:
            call()

    return work


def of_mkl(library, version, system, threads):
    """MKL with factors and with inverses, and a function that frees its memory."""
    mkl = Mkl(library, system.b.dtype)
    with_factors, with_inverses = system.start.copy(), system.start.copy()
    rest = numpy.empty_like(system.b)
    factors, pivots = mkl.factored(system.diagonal)
    solving, multiplying, products = [], [], []
    for (rows, blocks), inverse in zip(system.colours(), system.inverses()):
        own = system.of(rows)
        off_diagonal, inverse = mkl.matrix(*blocks, system.mesh.rows), mkl.matrix(*inverse, rows.stop - rows.start)
        x, y, b = with_factors[own], rest[own], system.b[own]
        # No row of a colour is a column of another row of it, so that x is not read where it is written.
        solving += [functools.partial(numpy.copyto, x, b), mkl.product(off_diagonal, -1, with_factors, 1, x)]
        solving += [mkl.solve(factors[rows], pivots[rows], x)]
        multiplying += [functools.partial(numpy.copyto, y, b), mkl.product(off_diagonal, -1, with_inverses, 1, y)]
        multiplying += [mkl.product(inverse, 1, y, 0, with_inverses[own])]
        products.append(mkl.product(off_diagonal, 1, system.start, 0, y))
    methods = [
        Method(f"MKL {version}, BSR and LU", threads, with_factors, sequence(solving), sequence(products)),
        Method(f"MKL {version}, BSR and inverses", threads, with_inverses, sequence(multiplying), sequence(products)),
    ]
    return methods, mkl.release


def of_scipy(system):
    x, parts = system.start.copy(), []
    for (rows, (starts, columns, blocks)), (diagonal_starts, diagonal, inverse) in zip(system.colours(), system.inverses()):
        count = (rows.stop - rows.start) * system.nb
        off_diagonal = bsr_matrix((blocks, columns, starts), shape=(count, len(x)))
        parts.append((system.of(rows), off_diagonal, bsr_matrix((inverse, diagonal, diagonal_starts), shape=(count, count))))

    def sweep():
        for own, off_diagonal, inverse in parts:
            x[own] = inverse @ (system.b[own] - off_diagonal @ x)

    def products():
        for _, off_diagonal, _ in parts:
            off_diagonal @ system.start

    return Method(f"SciPy {scipy.__version__}, BSR and inverses", 1, x, sweep, products)


def timed(work, threads, repeats):
    """Smallest and median seconds, and the share of their cores that the threads used."""

    def seconds(calls):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        return (time.perf_counter() - start) / calls

    calls = min(200, math.ceil(MIN_SECONDS / min(seconds(1) for _ in range(WARM_UP))))
    used, start = time.process_time(), time.perf_counter()
    found = [seconds(calls) for _ in range(repeats)]
    busy = (time.process_time() - used) / (time.perf_counter() - start) / threads
    return min(found), statistics.median(found), busy


def of_kolmo(kolmo, mesh, nb, precision, options):
    """Kolmo's report for blocks of the same sizes, and its number of colours."""
    shape = "x".join(map(str, mesh.points))
    arguments = ["bench", "blocks", "--backend", "cpu", "--json", "--points", shape, "--nb", str(nb), "--off-diagonal", precision]
    report = json.loads(kolmo([*arguments, "--threads", str(options.threads), "--repeats", str(options.repeats)]))
    if not report["blocks"]:
        raise Failed(f"Kolmo has no sweep over blocks of {nb} rows on {shape}: {'; '.join(report['notes'])}")
    found = report["blocks"][0]
    own = mesh.rows, len(mesh.columns), min_bytes(mesh, nb, REALS[precision]().itemsize, 8)
    if (found["rows"], found["blocks"], found["bytes"]) != own:
        raise Failed(f"Kolmo has {found['rows']} rows, {found['blocks']} blocks and {found['bytes']} bytes on {shape}; expected: {own}")
    return found, len(report["meshes"][0]["colours"])


def spread(found):
    """The smallest time of all rounds, and the median of the medians of the rounds."""
    return {"min": min(one[0] for one in found), "median": statistics.median(one[1] for one in found)}


def row(name, mesh, nb, formats, threads, options, seconds, kolmo, **more):
    """The report; `formats` are those of the off-diagonal blocks and of all other numbers, `kolmo` its seconds."""
    moved = min_bytes(mesh, nb, *(REALS[one]().itemsize for one in formats))
    return {
        "name": name,
        "points": mesh.points,
        "rows": mesh.rows,
        "blocks": len(mesh.columns),
        "nb": nb,
        "off_diagonal": formats[0],
        "precision": formats[1],
        "threads": threads,
        "rounds": options.rounds,
        "repeats": options.repeats,
        "bytes": moved,
        "seconds": seconds,
        "gb_per_s": 1e-9 * moved / seconds["min"],
        "time_over_kolmo": {which: seconds[which] / kolmo[which] for which in seconds} if kolmo else None,
    } | more


def of_size(kolmo, libraries, mesh, nb, precision, options, failures):
    """All results for one block size in one precision, and the number of Kolmo's colours."""
    system = random_system(mesh, nb, precision)
    methods, release = of_mkl(*libraries, system, options.threads)
    methods.append(of_scipy(system))
    errors = []
    for method in methods:
        method.sweep()
        errors.append(error(system, method.x))
    own, found = [], [([], []) for _ in methods]
    try:
        for _ in range(options.rounds):
            own.append(of_kolmo(kolmo, mesh, nb, precision, options))
            for method, (sweeps, products) in zip(methods, found):
                sweeps.append(timed(method.sweep, method.threads, options.repeats))
                products.append(timed(method.products, method.threads, options.repeats))
    finally:
        release()
    seconds = spread([(one["seconds"]["min"], one["seconds"]["median"]) for one, _ in own])
    copy, worst = max(one["copy_gb_per_s"] for one, _ in own), max(one["error"] for one, _ in own)
    more = {"product_seconds": None, "copy_gb_per_s": copy, "error": worst, "share_of_cores": None}
    rows = [row("kolmo, LU", mesh, nb, (precision, "f64"), options.threads, options, seconds, None, **more)]
    for method, (sweeps, products), wrong in zip(methods, found, errors):
        # Round-off of a sum of many products; NaN fails as well.
        if not wrong < 450 * numpy.finfo(REALS[precision]).eps:
            failures.append(f"{method.name}: {precision} blocks of {nb} rows: {wrong:.1e} from the reference; no time is reported")
            continue
        busy = min(one[2] for one in sweeps)
        more = {"product_seconds": spread(products), "copy_gb_per_s": None, "error": wrong, "share_of_cores": busy}
        rows.append(row(method.name, mesh, nb, (precision, precision), method.threads, options, spread(sweeps), seconds, **more))
    return rows, own[0][1]


def opened(threads):
    """MKL and its version."""
    try:
        package = importlib.metadata.distribution("mkl")
    except importlib.metadata.PackageNotFoundError as why:
        raise Missing(f"MKL is not installed; {INSTALL}") from why
    paths = [file.locate() for file in package.files or [] if re.match(r"(lib)?mkl_rt\b", file.name)]
    if not paths:
        raise Missing(f"MKL {package.version} has no mkl_rt among its files; {INSTALL}")
    try:
        library = ctypes.CDLL(str(paths[0]))
    except OSError as why:
        raise Missing(f"MKL cannot be loaded ({why}); {INSTALL}") from why
    missing = [name for name in ("mkl_sparse_d_create_bsr", "dgetrs_batch_strided") if not hasattr(library, name)]
    if missing:
        raise Missing(f"MKL {package.version} has no {missing[0]}: it is too old; {INSTALL}")
    library.MKL_Set_Num_Threads(ctypes.c_int(threads))
    return library, package.version


def kernels():
    """A note on the kernel libraries that MKL has chosen for this processor; empty if the system does not report them."""
    maps = pathlib.Path("/proc/self/maps")
    found = re.findall(r"libmkl_(def|mc3|avx\w*)\.", maps.read_text()) if maps.exists() else []
    return [f"MKL chose its kernels for {' and '.join(sorted(set(found)))}."] if found else []


def compare(kolmo, options):
    """Rows, notes and failures; `kolmo` takes arguments and returns the output of the program."""
    libraries = opened(options.threads)
    notes = [
        "All: one Gauss-Seidel sweep over all colours of a matrix of random blocks on tetrahedra: the product of a colour's off-diagonal",
        "blocks with x, then the solution with the diagonal blocks, colour by colour.",
        "Kolmo: factors, x and b are f64; `blocks in` is the format of the off-diagonal blocks only.",
        "MKL: mkl_sparse_?_mv with hints, then getrs_batch_strided with pivots (LU), or one product with the inverses, which were computed before.",
        "SciPy: bsr_matrix @ x, then a product with the inverses; one thread. Both store x, factors and b in the format of the blocks: the work",
        "is equal only with f64 blocks. With f32 blocks only Kolmo keeps x and factors in f64.",
        "GB/s: the bytes that Kolmo reports, blocks, columns, factors, pivots and b once, x read and written, in the formats of that line.",
    ]
    rows, failures = [], []
    for points in options.points:
        mesh, colours = coloured(points), None
        for nb, precision in itertools.product(options.nb, options.precisions):
            try:
                found, colours = of_size(kolmo, libraries, mesh, nb, precision, options, failures)
            except (Failed, MemoryError) as why:
                failures.append(f"{precision} blocks of {nb} rows on {'x'.join(map(str, points))}: {why or 'out of memory'}")
                continue
            rows += found
        size = f"{mesh.rows} rows, {len(mesh.columns)} off-diagonal blocks"
        notes.append(f"{'x'.join(map(str, points))}: {size}, {len(mesh.ends) - 1} colours, by Kolmo {colours or 'none'}.")
    notes += kernels()
    shares = [one["share_of_cores"] for one in rows if one["share_of_cores"]]
    if shares and min(shares) < 0.9:
        notes.append(f"Threads had {100 * min(shares):.0f} % of their cores in one round: other processes ran; the times are unreliable.")
    return rows, notes, failures


def table(rows):
    print(
        f"{'':34}{'mesh':>10}{'nb':>4}{'blocks in':>11}{'rest in':>9}{'threads':>9}{'ms':>9}{'median':>9}{'products':>10}"
        f"{'GB/s':>8}{'copy':>7}{'over kolmo':>12}{'of medians':>12}{'error':>9}"
    )
    for one in rows:
        minimum, median = 1e3 * one["seconds"]["min"], 1e3 * one["seconds"]["median"]
        products = f"{1e3 * one['product_seconds']['min']:.2f}" if one["product_seconds"] else "-"
        copy = f"{one['copy_gb_per_s']:.1f}" if one["copy_gb_per_s"] else "-"
        over = [f"{ratio:.2f}" for ratio in (one["time_over_kolmo"] or {}).values()] or ["-", "-"]
        print(
            f"{one['name']:34}{'x'.join(map(str, one['points'])):>10}{one['nb']:4}{one['off_diagonal']:>11}{one['precision']:>9}{one['threads']:9}"
            f"{minimum:9.2f}{median:9.2f}{products:>10}{one['gb_per_s']:8.2f}{copy:>7}{over[0]:>12}{over[1]:>12}{one['error']:9.1e}"
        )
