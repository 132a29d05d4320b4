"""Growth rates of waves between boundaries, from the eigenvalues of the linearised equations.

    usage: stability.py [POINTS...]

Discretises the linear Euler equations about a uniform stream, ρ = c = L = 1, on lines along x, for disturbances proportional to
exp(iky), with the derivatives and boundary rows of Kolmo (read from src/scheme), its walls (docs/theory.md, Walls) and its open faces
(Open faces), without filter and viscosity. Prints a Markdown table of the largest Re λ in c/L, the maximum over k and POINTS (33 and 65
unless given); 0.00 is stable. Points are uniform, or stretched by tanh with the factor given, clustered at the low or the high end.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "postprocess"))
from common import kolmo, number, script  # noqa: E402

import numpy as np  # noqa: E402

GAMMA = 1.4
RELAXATION = 0.25
SCHEME = Path(__file__).resolve().parent.parent / "src/scheme"
SBP = (SCHEME / "sbp_rows.rs").read_text(encoding="utf-8")
TAYLOR = (SCHEME / "closure_rows.rs").read_text(encoding="utf-8")

# α and the weights a, b, c, d of the inner formula; the rows at an open face.
FAMILIES = {
    "explicit4": (0, [4 / 3, -1 / 3], ["E3", "SKEW3"]),
    "explicit6": (0, [3 / 2, -3 / 5, 1 / 10], ["E3", "SKEW3", "CENTRAL4"]),
    "explicit8": (0, [8 / 5, -4 / 5, 8 / 35, -1 / 35], ["E3", "SKEW3", "CENTRAL4", "CENTRAL6"]),
    "compact4": (1 / 4, [3 / 2], ["C3"]),
    "compact6": (1 / 3, [14 / 9, 1 / 9], ["C3", "PADE4"]),
    "compact8": (3 / 8, [25 / 16, 1 / 5, -1 / 80], ["C3", "PADE4", "COMPACT6_AT_2"]),
}
# Ends, the streams (U, V)/c, and the stretching.
ACROSS = [(0.5, 0), (0.9, 0)]
OBLIQUE = [(0.5, 0.3), (0.1, 0.9), (0.75, 0.4), (0.9, 0.1), (1.1, 0.6)]
CASES = {
    "isothermal walls": ("isothermal", "isothermal", [(0, 0)], None),
    "adiabatic walls": ("adiabatic", "adiabatic", [(0, 0)], None),
    "wall, outflow": ("isothermal", "outflow", [(0, 0)], None),
    "wall, outflow, tanh 2 at the wall": ("isothermal", "outflow", [(0, 0)], (2, "low")),
    "wall, outflow, tanh 2 at the outflow": ("isothermal", "outflow", [(0, 0)], (2, "high")),
    "inflow, outflow": ("inflow", "outflow", ACROSS, None),
    "inflow, outflow, tanh 2 at the inflow": ("inflow", "outflow", ACROSS, (2, "low")),
    "inflow, outflow, tanh 2 at the outflow": ("inflow", "outflow", ACROSS, (2, "high")),
    "far fields": ("far-field", "far-field", ACROSS, None),
    "far fields, tanh 2 where gas enters": ("far-field", "far-field", ACROSS, (2, "low")),
    "far fields, oblique stream": ("far-field", "far-field", OBLIQUE, None),
    "far fields, oblique stream, tanh 2 where gas enters": ("far-field", "far-field", OBLIQUE, (2, "low")),
    "far field, outflow, oblique stream": ("far-field", "outflow", OBLIQUE, None),
}
WALLS = ("isothermal", "adiabatic")
# Largest fraction of the pressure gradient along a far field that is removed from the equation of vorticity waves.
MAX_REMOVED_FRACTION = 0.7
# Points in ∂/∂n on an open face.
POINTS = 10


def numbers(text):
    """The numbers of a list of Rust: quotients, and pairs of an offset and a weight."""
    return eval(f"[{text}]")  # noqa: S307, sources of this repository


def rows(text):
    """(left, right) side of each `row(&[...], &[...], order)` in `text`."""
    found = re.findall(r"row\(&\[(.*?)\], &\[(.*?)\], \d\)", text, re.DOTALL)
    return [(numbers(left), numbers(right)) for left, right in found]


def closure(family, by_parts):
    if by_parts:
        start = SBP.index(f"static SBP_{family.upper()}: ")
        return rows(SBP[start : SBP.index("];\n", start)])
    starts = [TAYLOR.index(f"static {name}: Row") for name in FAMILIES[family][2]]
    return [rows(TAYLOR[start : TAYLOR.index(";\n", start)])[0] for start in starts]


def derivative(family, n, by_parts):
    """D for n points on [0, 1]."""
    alpha, weights, _ = FAMILIES[family]
    a, b = np.eye(n), np.zeros((n, n))
    at_end = closure(family, by_parts)
    for i in range(n):
        if i < len(at_end) or n - 1 - i < len(at_end):
            at, sign = (i, 1) if i < len(at_end) else (n - 1 - i, -1)
            left, right = at_end[at]
            for offset, weight in left:
                a[i, i + sign * offset] += weight
            for q, weight in enumerate(right):
                b[i, q if sign > 0 else n - 1 - q] += sign * weight
        else:
            a[i, i - 1] = a[i, i + 1] = alpha
            for s, weight in enumerate(weights, 1):
                b[i, i + s] += weight / (2 * s)
                b[i, i - s] -= weight / (2 * s)
    return np.linalg.solve(a, b) * (n - 1)


def metric(n, stretching):
    """dξ/dx of x(ξ) on [0, 1]."""
    s = np.linspace(0, 1, n)
    if stretching is None:
        return np.ones(n)
    factor, end = stretching
    argument = factor * (s - 1 if end == "low" else s)
    return np.cosh(argument) ** 2 * np.tanh(factor) / factor


def truncated(row):
    """The first POINTS weights of a row; values farther inside are extrapolated by a cubic through the last four of these points."""
    kept, last = row[:POINTS].copy(), range(POINTS - 4, POINTS)
    for j, weight in enumerate(row[POINTS:], POINTS):
        for k in last:
            kept[k] += weight * np.prod([(j - m) / (k - m) for m in last if m != k])
    return kept


def growth(family, n, ends, stream, stretching, k):
    """The largest real part of an eigenvalue."""
    across, along = stream
    by_parts = stretching is not None or any(end in WALLS for end in ends)
    m = metric(n, stretching)
    d = m[:, None] * derivative(family, n, by_parts)
    eye = np.eye(4 * n, dtype=complex if k else float)
    ik = 1j * k if k else 0
    rho, u, v, p = (eye[q * n : (q + 1) * n] for q in range(4))
    temperature = GAMMA * p - rho
    transport = lambda f: across * d @ f + ik * along * f
    divergence = d @ u + ik * v
    rate_rho = -(transport(rho) + divergence)
    rate_u = -(transport(u) + d @ p)
    rate_v = -(transport(v) + ik * p)
    rate_p = -(transport(p) + divergence)
    fixed, state = [], eye.copy()
    for end, other, i, outward in (*ends, 0, -1), (*ends[::-1], n - 1, 1):
        if end in WALLS:
            state[n + i] = state[2 * n + i] = 0
            fixed += [n + i, 2 * n + i]
            if end == "isothermal":
                state[3 * n + i] = 0
                state[3 * n + i, i] = 1 / GAMMA
                fixed.append(3 * n + i)
            continue
        slope = np.zeros(n)
        slope[i :: -outward][:POINTS] = outward * truncated(d[i, ::-outward])
        u_n = outward * across
        back, slow, forth = min(u_n - 1, 0), min(u_n, 0), min(u_n + 1, 0)
        known = end != "outflow"
        normal = outward * u[i]
        slope_p, slope_u, slope_v, slope_rho = slope @ p, outward * (slope @ u), slope @ v, slope @ rho
        coming = rate_p[i] - outward * rate_u[i]
        going = forth * (slope_p + slope_u + known * RELAXATION * (p[i] + normal))
        if end == "inflow":
            sound = -(coming + RELAXATION * back * normal)
            vorticity = -(rate_v[i] + RELAXATION * v[i])
            entropy = RELAXATION * temperature[i] - (rate_rho[i] - rate_p[i])
        else:
            is_known = known or other in ("inflow", "far-field")
            carried = max(1e-3 if is_known else 0, u_n)
            kept = carried / (carried - back)
            moves = ik * along * is_known
            sound = kept * (coming + back * (slope_p - slope_u)) - coming - (1 - kept) * moves * (p[i] - normal)
            sound = sound + RELAXATION * back * (1 + max(u_n, 0)) * (p[i] - known * normal)
            vorticity = slow * (slope_v + known * RELAXATION * v[i]) + known * min(-slow, MAX_REMOVED_FRACTION) * ik * p[i]
            entropy = slow * (slope_rho - slope_p + known * RELAXATION * (rho[i] - p[i]))
        rate_p[i] += 0.5 * (going + sound)
        rate_u[i] += outward * 0.5 * (going - sound)
        rate_v[i] += vorticity
        rate_rho[i] += entropy + 0.5 * (going + sound)
    free = [q for q in range(4 * n) if q not in fixed]
    matrix = np.vstack([rate_rho, rate_u, rate_v, rate_p]) @ state
    return np.linalg.eigvals(matrix[np.ix_(free, free)]).real.max()


def largest(family, counts, low, high, streams, stretching):
    """The largest growth over the numbers of points, the streams and k: 0, or if a stream is oblique that of two waves and of the shortest."""
    oblique = any(v for _, v in streams)
    waves = lambda n: [4 * np.pi, 1.6 * n] if oblique else [0]
    return max(growth(family, n, (low, high), stream, stretching, k) for n in counts for stream in streams for k in waves(n))


def main(*counts):
    points = [int(number(text)) for text in counts] or [33, 65]
    if min(points) < 24:
        raise kolmo.KolmoError("the rows of both ends need 24 points")
    print(f"| growth in c/L, {' and '.join(map(str, points))} points | {' | '.join(FAMILIES)} |")
    print(f"|---|{'---|' * len(FAMILIES)}")
    for name, case in CASES.items():
        rates = [largest(family, points, *case) for family in FAMILIES]
        print(f"| {name} | {' | '.join(f'{max(rate, 0):.2f}' for rate in rates)} |")


if __name__ == "__main__":
    script(main, __doc__, 0)
