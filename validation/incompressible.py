#!/usr/bin/env python3
"""Incompressible Taylor-Green vortex by a Fourier method: reference curves for comparison with Kolmo. Needs NumPy and SciPy.

With u = sin x cos y cos z, v = -cos x sin y cos z, w = 0 at the start, every velocity stays odd across its own mirror planes and
even across the others (Brachet et al. 1983, J. Fluid Mech. 130, 411), so that sine and cosine series on an eighth of the box
represent the whole flow:

    du/dt = P (u x omega) - nu k^2 u,   omega = curl u,   P N = N - k (k.N) / k^2

It uses the rotational form, the 2/3 rule for products, and the classical Runge-Kutta method. Averages of products are exact, since the
points resolve waves of twice the largest wavenumber.

    validation/incompressible.py RE MODES DT > FILE          a row every 0.1 up to t = 10
    validation/incompressible.py 400 192 0.0125 > cases/taylor-green/reference/re400-incompressible.csv
    validation/incompressible.py 200 96 0.0125 --against cases/taylor-green/reference/re200-incompressible.csv

--against prints the largest deviations from another table instead, at the times common to both, relative to the initial kinetic
energy and to the peak of the dissipation.
"""

import argparse
import csv

import numpy
from scipy import fft

END, SAMPLE = 10.0, 0.1
# Whether a quantity is odd along x, y, z.
VELOCITY = [(True, False, False), (False, True, False), (False, False, True)]
VORTICITY = [(False, True, True), (True, False, True), (True, True, False)]


class Vortex:
    def __init__(self, reynolds, modes):
        self.nu, self.points = 1.0 / reynolds, modes // 2
        # Retained waves: wavenumbers below a third of the points of a whole period.
        self.kept = (modes + 2) // 3
        k = numpy.arange(self.kept, dtype=float)
        self.k = [k[:, None, None], k[None, :, None], k[None, None, :]]
        self.k2 = sum(k * k for k in self.k)
        self.over_k2 = 1.0 / numpy.where(self.k2 > 0.0, self.k2, 1.0)
        x = (numpy.arange(self.points) + 0.5) * numpy.pi / self.points
        x, y, z = x[:, None, None], x[None, :, None], x[None, None, :]
        u = numpy.sin(x) * numpy.cos(y) * numpy.cos(z)
        v = -numpy.cos(x) * numpy.sin(y) * numpy.cos(z)
        start = [u, v, numpy.zeros_like(u)]
        self.u = numpy.array([self.series(f, odd) for f, odd in zip(start, VELOCITY)])

    def series(self, f, odd):
        """Return the coefficients of the waves 0, 1, ... along each axis."""
        for axis in (2, 1, 0):
            f = (fft.dst if odd[axis] else fft.dct)(f, axis=axis)
            first = numpy.take(f, range(self.kept - odd[axis]), axis)
            pad = [(int(odd[axis] and a == axis), 0) for a in range(3)]
            f = numpy.pad(first, pad)
        return f

    def values(self, f, odd):
        for axis in (0, 1, 2):
            if odd[axis]:
                f = fft.idst(f[(slice(None),) * axis + (slice(1, None),)], n=self.points, axis=axis)
            else:
                f = fft.idct(f, n=self.points, axis=axis)
        return f

    def fields(self, u):
        """Return velocity and vorticity at the points."""
        (a, b, c), (k, l, m) = u, self.k
        vorticity = [m * b - l * c, k * c - m * a, l * a - k * b]
        return ([self.values(f, odd) for f, odd in zip(u, VELOCITY)],
                [self.values(f, odd) for f, odd in zip(vorticity, VORTICITY)])

    def rate(self, u):
        (a, b, c), (x, y, z) = self.fields(u)
        product = [b * z - c * y, c * x - a * z, a * y - b * x]
        n = numpy.array([self.series(f, odd) for f, odd in zip(product, VELOCITY)])
        pressure = sum(k * f for k, f in zip(self.k, n)) * self.over_k2
        return n - numpy.array([k * pressure for k in self.k]) - self.nu * self.k2 * u

    def step(self, dt):
        k1 = self.rate(self.u)
        k2 = self.rate(self.u + dt / 2 * k1)
        k3 = self.rate(self.u + dt / 2 * k2)
        k4 = self.rate(self.u + dt * k3)
        self.u = self.u + dt / 6 * (k1 + 2 * (k2 + k3) + k4)

    def averages(self):
        """Return kinetic energy, dissipation, enstrophy."""
        velocity, vorticity = self.fields(self.u)
        half_square = lambda field: 0.5 * sum(float(numpy.mean(f * f)) for f in field)
        energy, enstrophy = half_square(velocity), half_square(vorticity)
        return energy, 2.0 * self.nu * enstrophy, enstrophy


def rows(reynolds, modes, dt):
    steps = round(SAMPLE / dt)
    if abs(steps * dt - SAMPLE) > 1e-12:
        raise SystemExit(f"{SAMPLE} is not a multiple of the step {dt}")
    vortex = Vortex(reynolds, modes)
    for sample in range(round(END / SAMPLE) + 1):
        for _ in range(steps if sample else 0):
            vortex.step(dt)
        yield sample * SAMPLE, *vortex.averages()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reynolds", type=float)
    parser.add_argument("modes", type=int)
    parser.add_argument("dt", type=float)
    parser.add_argument("--against")
    options = parser.parse_args()
    run = rows(options.reynolds, options.modes, options.dt)
    if not options.against:
        print(f"# Taylor-Green vortex, Re = {options.reynolds:g}, incompressible")
        print(f"# source: validation/incompressible.py, pseudo-spectral, {options.modes}^3 modes with 2/3 dealiasing, "
              f"RK4 with dt = {options.dt:g}")
        print(f"# every {SAMPLE} L/V0, rounded to 9 digits; volume averages, non-dimensional with L, V0, rho0")
        print("time,kinetic_energy,dissipation,enstrophy")
        for row in run:
            print(",".join(f"{value:.9g}" for value in row), flush=True)
        return
    with open(options.against, encoding="utf-8") as file:
        table = [[float(value) for value in row[:4]] for row in list(csv.reader(line for line in file if line[0] != "#"))[1:]]
    scale = [0.125] + [max(row[at] for row in table) for at in (2, 3)]
    ours = {round(row[0], 6): row for row in run}
    both = [(ours[round(row[0], 6)], row) for row in table if round(row[0], 6) in ours]
    for at, name in enumerate(["kinetic energy", "dissipation", "enstrophy"]):
        worst = max((abs(a[1 + at] - b[1 + at]) / scale[at], b[0]) for a, b in both)
        print(f"{name:15} {worst[0]:.2e} at t = {worst[1]:g}, {len(both)} instants")


if __name__ == "__main__":
    main()
