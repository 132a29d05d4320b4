"""Say of pictures how large they are and whether there is anything on them.

usage: picture.py PICTURE ...

A line for each: width, height, frames, colours of the emptiest frame, frames that differ from the one before.
"""

import sys

import numpy
from PIL import Image


def main():
    for path in sys.argv[1:]:
        picture = Image.open(path)
        frames = []
        for at in range(getattr(picture, "n_frames", 1)):
            picture.seek(at)
            frames.append(numpy.asarray(picture.convert("RGB")))
        colours = min(len(numpy.unique(frame.reshape(-1, 3), axis=0)) for frame in frames)
        changes = sum((a != b).any() for a, b in zip(frames, frames[1:]))
        print(*picture.size, len(frames), colours, changes)


if __name__ == "__main__":
    main()
