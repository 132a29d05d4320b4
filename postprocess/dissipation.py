"""Draw the dissipation of a run over time, what the kinetic energy loses, and the reference.

    usage: dissipation.py RUN_DIR PICTURE.png

RUN_DIR is a run of a flow with viscosity. The dissipation from gradients, < tau : grad u >, and what the kinetic energy
loses, -dE/dt + < p div u >, are the same but for what the scheme dissipates, which is drawn below. The curve of
`reference.csv` is drawn where the run has one.

Needs: pip install -r postprocess/requirements.txt (docs/user-guide.md says how).
"""

from common import kolmo, script


def main(run, picture):
    kolmo.open(run).plot.dissipation().savefig(picture, dpi=100)


if __name__ == "__main__":
    script(main, __doc__, 2, 2)
