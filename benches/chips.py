"""What GPUs can do, and what the time of a kernel is made of: floors that are counted, and a prediction by a rule."""

import math
from typing import NamedTuple

import sass

WARP = 32
SCHEDULERS = 4  # of a multiprocessor; each issues one instruction of a warp a clock
SHARED_BYTES = 128  # a clock and multiprocessor
REGISTERS = 16384  # of a quarter of a multiprocessor
WARPS = 16  # of a quarter
BLOCKS = 32  # of a multiprocessor
SYSTEM = 1 << 10  # bytes on chip that the system takes of every block
# Assumed, of all chips alike.
ACHIEVED = 0.9  # of the memory rate of the data sheet
SHARED_LATENCY = 30  # clocks after a barrier until a value of another thread is there
LATENCY = 600  # clocks of a load from device memory


class Chip(NamedTuple):
    """SMs, clock and memory rate of the data sheets; rates of a multiprocessor of the CUDA programming guide."""

    name: str
    capability: int  # times ten
    on_chip: int  # bytes of a multiprocessor
    multiprocessors: int
    clock: float  # Hz
    memory: float  # bytes a second
    fp64: int  # results a clock and multiprocessor
    fp32: int

    def memory_bytes(self):
        """A clock and multiprocessor."""
        return ACHIEVED * self.memory / self.clock / self.multiprocessors


# The clock of the B200 is that at which 148 multiprocessors do the 37 TFLOP/s of its data sheet.
CHIPS = [
    Chip("A100", 80, 164 << 10, 108, 1.410e9, 2.039e12, 32, 64),
    Chip("H100", 90, 228 << 10, 132, 1.755e9, 3.35e12, 64, 128),
    Chip("H200", 90, 228 << 10, 132, 1.755e9, 4.8e12, 64, 128),
    Chip("B200", 100, 228 << 10, 148, 1.953e9, 8.0e12, 64, 128),
]


class Launch(NamedTuple):
    """How a kernel is run."""

    threads: int  # of a block
    points: int  # of a tile
    blocks: int  # tiles in all, where blocks do several in turn
    on_chip: int  # bytes of a block
    words: int  # of device memory that a point must move
    real: int  # bytes of a word
    tiles: int = 1  # that a block does in turn


def most_on_chip(capability):
    """Bytes that a block may take."""
    return next(chip.on_chip for chip in CHIPS if chip.capability == capability) - SYSTEM


def resident(chip, launch, registers):
    """Blocks that a multiprocessor holds."""
    warps = math.ceil(launch.threads / WARP)
    # A warp takes registers by 256, from a quarter of the multiprocessor.
    of_quarter = min(WARPS, REGISTERS // (math.ceil(registers * WARP / 256) * 256))
    return min(of_quarter * SCHEDULERS // warps, chip.on_chip // (launch.on_chip + SYSTEM), BLOCKS)


def floors(chip, launch, counts):
    """Clocks of a multiprocessor for a block, by what takes them, each as if nothing else did."""
    warps = math.ceil(launch.threads / WARP)
    arithmetic = counts.fp64 / chip.fp64 + counts.fp32 / chip.fp32
    return {
        "memory": launch.words * launch.real * launch.points / chip.memory_bytes(),
        "shared": counts.shared * sass.WORD * warps * WARP / SHARED_BYTES,
        "arithmetic": arithmetic * warps * WARP,
        "issue": counts.instructions * warps / SCHEDULERS,
    }


def alone(chip, launch, kernel):
    """Clocks of a block that has a multiprocessor for itself: it computes at the largest floor but that of memory, and waits.

    A word that is loaded again comes from the caches: all accesses together take what memory takes for the words that must be moved.
    """
    counts = sass.counted(kernel)
    least = floors(chip, launch, counts)
    computing = max(least["shared"], least["arithmetic"], least["issue"])
    bytes_of_thread = max(1.0, counts.loaded + counts.stored) * sass.WORD
    pace = sass.Pace(computing / counts.instructions, SHARED_LATENCY, LATENCY, least["memory"] / bytes_of_thread)
    return sass.timed(kernel, pace, launch.tiles)


def predicted(chip, launch, kernel):
    """Clocks of a multiprocessor for a block.

    Where several blocks are resident, each finds the others before it at whatever is busiest (the lower bound of the throughput of a
    closed queue: Lazowska et al., Quantitative System Performance, 1984, ch. 5). The last blocks of a launch leave multiprocessors idle.
    """
    blocks = resident(chip, launch, kernel.registers)
    busiest = max(floors(chip, launch, sass.counted(kernel)).values())
    at_once = blocks * chip.multiprocessors
    idle = math.ceil(launch.blocks / at_once) * at_once / launch.blocks
    return idle * (sum(alone(chip, launch, kernel).values()) + (blocks - 1) * busiest) / blocks


def nanoseconds(chip, launch, clocks):
    """A point, of clocks of a multiprocessor a block."""
    return 1e9 * clocks / launch.points / chip.clock / chip.multiprocessors
