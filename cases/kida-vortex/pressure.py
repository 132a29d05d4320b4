"""Coefficients of the pressure of Kida's vortex in src/cases/kida_vortex.rs, in exact arithmetic.

    python3 cases/kida-vortex/pressure.py

A field is a sum of waves c exp(i k.x), stored as {k: c} with c a pair of fractions. The products of u give the source of
the Poisson equation, d_i u_j d_j u_i, and each of its waves is divided by k.k.
"""
import argparse
from collections import defaultdict
from fractions import Fraction


def times(a, b):
    product = defaultdict(lambda: (Fraction(0), Fraction(0)))
    for k, (p, q) in a.items():
        for l, (r, s) in b.items():
            m = tuple(x + y for x, y in zip(k, l))
            product[m] = (product[m][0] + p * r - q * s, product[m][1] + p * s + q * r)
    return {k: c for k, c in product.items() if c != (0, 0)}


def plus(a, b, sign=1):
    total = dict(a)
    for k, (p, q) in b.items():
        r, s = total.get(k, (Fraction(0), Fraction(0)))
        total[k] = (r + sign * p, s + sign * q)
    return {k: c for k, c in total.items() if c != (0, 0)}


def derivative(a, axis):
    return {k: (-q * k[axis], p * k[axis]) for k, (p, q) in a.items() if k[axis]}


def wave(axis, n, c):
    return {tuple(s * n if j == axis else 0 for j in range(3)): (c[0], s * c[1]) for s in (1, -1)}


def cos(axis, n):
    return wave(axis, n, (Fraction(1, 2), Fraction(0)))


def sin(axis, n):
    return wave(axis, n, (Fraction(0), Fraction(-1, 2)))


def component(x, y, z):
    return times(sin(x, 1), plus(times(cos(y, 3), cos(z, 1)), times(cos(y, 1), cos(z, 3)), -1))


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    u = [component(0, 1, 2), component(1, 2, 0), component(2, 0, 1)]
    divergence, source = {}, {}
    for i in range(3):
        divergence = plus(divergence, derivative(u[i], i))
        for j in range(3):
            source = plus(source, times(derivative(u[i], j), derivative(u[j], i)))
    assert not divergence

    table = {}
    for k, (p, q) in source.items():
        # cos ax cos by cos cz has a wave of weight one half for both signs of each of a, b, c that is not zero.
        coefficient = p / sum(n * n for n in k) * 2 ** sum(n != 0 for n in k)
        orders = tuple(sorted(abs(n) for n in k))
        assert q == 0 and table.setdefault(orders, coefficient) == coefficient
    for orders, coefficient in sorted(table.items()):
        print(*orders, coefficient)


if __name__ == "__main__":
    main()
