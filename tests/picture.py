"""Print the sizes of pictures and whether they show anything.

usage: picture.py PICTURE ...

One line per picture: width, height, number of frames, smallest number of colours in a frame, frames that differ from the previous one.
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
