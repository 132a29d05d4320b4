"""Growth rates of sound and entropy waves between boundaries, from the eigenvalues of the linearised equations in one dimension.

    usage: stability.py [POINTS...]

Discretises the linear Euler equations about a uniform stream, ρ = c = L = 1, with the derivatives and boundary rows of Kolmo (read from
src/scheme), its walls (docs/theory.md, Walls) and its open faces (Open faces), without filter and viscosity. Prints a Markdown table of
the largest Re λ in c/L, the maximum over POINTS (33 and 65 unless given); 0.00 is stable. Points are uniform, or stretched by tanh with
the factor given, clustered at the low or the high end.

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
# Ends, U/c and the stretching.
CASES = {
    "isothermal walls": ("isothermal", "isothermal", 0, None),
    "adiabatic walls": ("adiabatic", "adiabatic", 0, None),
    "wall, outflow": ("isothermal", "outflow", 0, None),
    "wall, outflow, tanh 2 at the wall": ("isothermal", "outflow", 0, (2, "low")),
    "wall, outflow, tanh 2 at the outflow": ("isothermal", "outflow", 0, (2, "high")),
    "inflow, outflow": ("inflow", "outflow", 0.5, None),
    "inflow, outflow, tanh 1 at the inflow": ("inflow", "outflow", 0.5, (1, "low")),
    "far fields": ("far-field", "far-field", 0.5, None),
}


def numbers(text):
    """The numbers of a list of Rust: quotients, and pairs of an offset and a weight."""
    return eval(f"[{text}]")  # noqa: S307, sources of this repository


def rows(text):
    """(left, right) side of each `row(&[...], &[...], order)` in `text`."""
    found = re.findall(r"row\(&\[(.*?)\], &\[(.*?)\], \d\)", text, re.DOTALL)
    return [(numbers(left), numbers(right)) for left, right in found]


def closure(family, is_wall):
    if is_wall:
        start = SBP.index(f"static SBP_{family.upper()}: ")
        return rows(SBP[start : SBP.index("];\n", start)])
    starts = [TAYLOR.index(f"static {name}: Row") for name in FAMILIES[family][2]]
    return [rows(TAYLOR[start : TAYLOR.index(";\n", start)])[0] for start in starts]


def derivative(family, n, ends):
    """D for n points on [0, 1], whose ends are walls or not."""
    alpha, weights, _ = FAMILIES[family]
    a, b = np.eye(n), np.zeros((n, n))
    low, high = (closure(family, end in ("isothermal", "adiabatic")) for end in ends)
    for i in range(n):
        if i < len(low) or n - 1 - i < len(high):
            side, at, sign = (low, i, 1) if i < len(low) else (high, n - 1 - i, -1)
            left, right = side[at]
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


def growth(family, n, low, high, stream, stretching):
    """The largest real part of an eigenvalue."""
    m = metric(n, stretching)
    d = m[:, None] * derivative(family, n, (low, high))
    eye = np.eye(3 * n)
    rho, u, p = eye[:n], eye[n : 2 * n], eye[2 * n :]
    temperature = GAMMA * p - rho
    rate_rho = -(stream * d @ rho + d @ u)
    rate_u = -(stream * d @ u + d @ p)
    rate_p = -(stream * d @ p + d @ u)
    fixed, state = [], np.eye(3 * n)
    for end, i, outward in ((low, 0, -1), (high, n - 1, 1)):
        if end in ("isothermal", "adiabatic"):
            state[n + i] = 0
            fixed.append(n + i)
            if end == "isothermal":
                state[2 * n + i] = 0
                state[2 * n + i, i] = 1 / GAMMA
                fixed.append(2 * n + i)
            continue
        # The outward derivative of fourth order on five points.
        slope = np.zeros(n)
        slope[i :: -outward][:5] = m[i] * (n - 1) / 12 * np.array([25, -48, 36, -16, 3])
        u_n = outward * stream
        back, slow, forth = min(u_n - 1, 0), min(u_n, 0), min(u_n + 1, 0)
        known = end != "outflow"
        normal = outward * u[i]
        slope_p, slope_u, slope_rho = slope @ p, outward * (slope @ u), slope @ rho
        coming = rate_p[i] - outward * rate_u[i]
        going = forth * (slope_p + slope_u + known * RELAXATION * (p[i] + normal))
        if end == "inflow":
            sound = -(coming + RELAXATION * back * normal)
            entropy = RELAXATION * temperature[i] - (rate_rho[i] - rate_p[i])
        else:
            leaving = u_n - slow
            carried = max(1e-3, u_n) if "inflow" in (low, high) or known else leaving
            kept = carried / (carried - back)
            sound = kept * (coming + back * (slope_p - slope_u)) - coming
            sound = sound + RELAXATION * back * (1 + leaving) * (p[i] - known * normal)
            entropy = slow * (slope_rho - slope_p + known * RELAXATION * (rho[i] - p[i]))
        rate_p[i] += 0.5 * (going + sound)
        rate_u[i] += outward * 0.5 * (going - sound)
        rate_rho[i] += entropy + 0.5 * (going + sound)
    free = [k for k in range(3 * n) if k not in fixed]
    matrix = np.vstack([rate_rho, rate_u, rate_p]) @ state
    return np.linalg.eigvals(matrix[np.ix_(free, free)]).real.max()


def main(*counts):
    points = [int(number(text)) for text in counts] or [33, 65]
    if min(points) < 24:
        raise kolmo.KolmoError("the rows of both ends need 24 points")
    print(f"| growth in c/L, {' and '.join(map(str, points))} points | {' | '.join(FAMILIES)} |")
    print(f"|---|{'---|' * len(FAMILIES)}")
    for name, case in CASES.items():
        rates = [max(growth(family, n, *case) for n in points) for family in FAMILIES]
        print(f"| {name} | {' | '.join(f'{max(rate, 0):.2f}' for rate in rates)} |")


if __name__ == "__main__":
    script(main, __doc__, 0)
