"""Draw the dissipation of a run over time, the loss of kinetic energy, and the reference.

    usage: dissipation.py RUN_DIR PICTURE.png

RUN_DIR is a run of a viscous flow. The dissipation from gradients, < tau : grad u >, and the loss of kinetic energy,
-dE/dt + < p div u >, differ by the dissipation of the scheme, which is drawn below. The curve of
`reference.csv` is drawn if the run has one.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

from common import kolmo, script


def main(run, picture):
    kolmo.open(run).plot.dissipation().savefig(picture, dpi=100)


if __name__ == "__main__":
    script(main, __doc__, 2, 2)
