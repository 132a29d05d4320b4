"""Code shared by the scripts of this folder: the package `kolmo` of this checkout, and the start and end of a script.

A script imports it first, so that its usage is printed even if packages are missing.
"""

import sys
from collections.abc import Callable
from pathlib import Path

if not {"-h", "--help"}.isdisjoint(sys.argv[1:]):
    print(sys.modules["__main__"].__doc__)
    sys.exit()

# Scripts and package have the same version, and the scripts need no installation.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

try:
    import matplotlib

    matplotlib.use("Agg")
    import kolmo
    import matplotlib.pyplot as plt
    from kolmo.plot import INK
except ModuleNotFoundError as why:
    sys.exit(f"error: {why}: pip install -r postprocess/requirements.txt (docs/user-guide.md says how)")

plt.rcParams.update({"font.size": 11, "axes.titlesize": 11, "text.color": INK, "axes.labelcolor": INK})


def script(main: Callable[..., None], usage: str | None, least: int, most: int | None = None) -> None:
    """Call `main` with the `least` to `most` arguments of the command line; exit with `usage` or a one-line error otherwise."""
    typed = sys.argv[1:]
    if not least <= len(typed) <= (most or len(typed)):
        sys.exit(usage)
    try:
        main(*typed)
    except (kolmo.KolmoError, OSError, ValueError) as why:
        sys.exit(f"error: {why}")


def number(text: str) -> float:
    """Convert a number of the command line."""
    try:
        return float(text)
    except ValueError:
        raise kolmo.KolmoError(f"`{text}` is no number") from None


def spacing(run: kolmo.Run, fields) -> list[float]:
    """Return the spacings along x, y, z, which must be uniform; 1 along an axis with one point."""
    if "j" in fields.dims or "stretching" in run.config["grid"]:
        raise kolmo.KolmoError(
            f"{run.path} has a stretched or curvilinear grid, and this draws equal spacings; see Run.plot of the package, or "
            "open the files with ParaView"
        )
    return [float(fields[axis][1] - fields[axis][0]) if fields.sizes[axis] > 1 else 1.0 for axis in "xyz"]
