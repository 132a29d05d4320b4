"""Draw the spectra of a run on logarithmic axes, with the slope of the inertial range and the reference.

    usage: spectra.py RUN_DIR PICTURE.png [TIME ...]

RUN_DIR is a run with `statistics/spectra.csv`, a table with the columns step, time, k, modes and energy (or scalar). Those
nearest to each TIME are drawn, the last three where none is given, and `reference_spectrum.csv` where it is there. Below them
stands the same multiplied by k^(5/3), which is level in an inertial range.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

from common import kolmo, number, script


def main(run, picture, *times):
    asked = [number(time) for time in times] or None
    kolmo.open(run).plot.spectra(asked).savefig(picture, dpi=100)


if __name__ == "__main__":
    script(main, __doc__, 2)
