"""Draw the spectra of a run on logarithmic axes, with the slope of the inertial range and the reference.

    usage: spectra.py RUN_DIR PICTURE.png [TIME ...]

RUN_DIR is a run with `statistics/spectra.csv`, a table with the columns step, time, k, modes and energy (or scalar). The spectra
nearest to each TIME are drawn, by default the last three, and `reference_spectrum.csv` if it exists. The lower plot shows the
spectra multiplied by k^(5/3), which are constant in an inertial range.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

from common import kolmo, number, script


def main(run, picture, *times):
    asked = [number(time) for time in times] or None
    kolmo.open(run).plot.spectra(asked).savefig(picture, dpi=100)


if __name__ == "__main__":
    script(main, __doc__, 2)
