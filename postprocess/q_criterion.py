"""Draw the vortices of a run: the surface of constant Q, coloured by the enstrophy.

    usage: q_criterion.py RUN_DIR PICTURE.png [TIME] [LEVEL]

RUN_DIR is a run in three dimensions that wrote the fields `q_criterion` and `vorticity`, as `kolmo run taylor-green`
does. The fields nearest to TIME are drawn, by default (or with `-`) the last ones. The surface is
Q = LEVEL times the largest Q, by default 0.1. Q = -1/2 du_i/dx_j du_j/dx_i (Hunt, Wray and Moin 1988) is
positive where rotation exceeds strain; the enstrophy is w.w / 2 of the vorticity w. It needs no display.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how), and without a
display EGL or OSMesa: apt install libegl1 libgl1-mesa-dri.
"""

from common import kolmo, number, script


def main(run, picture, time="-", level="0.1"):
    asked = None if time == "-" else number(time)
    kolmo.open(run).plot.vortices(asked, number(level)).screenshot(picture)


if __name__ == "__main__":
    script(main, __doc__, 2, 4)
