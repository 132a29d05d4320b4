"""Rates of GPUs, and the time of a kernel: lower bounds from counts, and a prediction by a model."""

import math
from typing import NamedTuple

import sass

WARP = 32
SCHEDULERS = 4  # per multiprocessor; each issues one warp instruction per clock
SHARED_BYTES = 128  # per clock and multiprocessor
REGISTERS = 16384  # of a quarter of a multiprocessor
WARPS = 16  # per quarter
BLOCKS = 32  # per multiprocessor
SYSTEM = 1 << 10  # on-chip bytes that the system reserves per block
# Assumptions, equal for all chips.
ACHIEVED = 0.9  # of the memory rate of the data sheet
SHARED_LATENCY = 30  # clocks after a barrier until a value of another thread is available
LATENCY = 600  # clocks per load from device memory


class Chip(NamedTuple):
    """SMs, clock and memory rate from the data sheets; rates per multiprocessor from the CUDA programming guide."""

    name: str
    capability: int  # times ten
    on_chip: int  # bytes per multiprocessor
    multiprocessors: int
    clock: float  # Hz
    memory: float  # bytes per second
    fp64: int  # results per clock and multiprocessor
    fp32: int

    def memory_bytes(self):
        """Bytes per clock and multiprocessor."""
        return ACHIEVED * self.memory / self.clock / self.multiprocessors


# The clock of the B200 is the one at which 148 multiprocessors reach the 37 TFLOP/s of its data sheet.
CHIPS = [
    Chip("A100", 80, 164 << 10, 108, 1.410e9, 2.039e12, 32, 64),
    Chip("H100", 90, 228 << 10, 132, 1.755e9, 3.35e12, 64, 128),
    Chip("H200", 90, 228 << 10, 132, 1.755e9, 4.8e12, 64, 128),
    Chip("B200", 100, 228 << 10, 148, 1.953e9, 8.0e12, 64, 128),
]


class Launch(NamedTuple):
    """Launch parameters of a kernel."""

    threads: int  # per block
    points: int  # per tile
    blocks: int  # total number of tiles, if blocks do several in turn
    on_chip: int  # bytes per block
    words: int  # of device memory that must be moved per point
    real: int  # bytes per word
    tiles: int = 1  # per block, in turn


def max_on_chip(capability):
    """Largest number of on-chip bytes per block."""
    return next(chip.on_chip for chip in CHIPS if chip.capability == capability) - SYSTEM


def resident(chip, launch, registers):
    """Resident blocks per multiprocessor."""
    warps = math.ceil(launch.threads / WARP)
    # Registers are allocated per warp in units of 256, from a quarter of the multiprocessor.
    of_quarter = min(WARPS, REGISTERS // (math.ceil(registers * WARP / 256) * 256))
    return min(of_quarter * SCHEDULERS // warps, chip.on_chip // (launch.on_chip + SYSTEM), BLOCKS)


def floors(chip, launch, counts):
    """Lower bounds in clocks of a multiprocessor per block, by resource, each as if it were the only limit."""
    warps = math.ceil(launch.threads / WARP)
    arithmetic = counts.fp64 / chip.fp64 + counts.fp32 / chip.fp32
    return {
        "memory": launch.words * launch.real * launch.points / chip.memory_bytes(),
        "shared": counts.shared * sass.WORD * warps * WARP / SHARED_BYTES,
        "arithmetic": arithmetic * warps * WARP,
        "issue": counts.instructions * warps / SCHEDULERS,
    }


def alone(chip, launch, kernel):
    """Clocks of a block alone on a multiprocessor: it computes at the largest bound except that of memory, and waits.

    Repeated loads of a word are served by the caches: all accesses together take the memory time of the words that must be moved.
    """
    counts = sass.counted(kernel)
    bounds = floors(chip, launch, counts)
    computing = max(bounds["shared"], bounds["arithmetic"], bounds["issue"])
    bytes_of_thread = max(1.0, counts.loaded + counts.stored) * sass.WORD
    pace = sass.Pace(computing / counts.instructions, SHARED_LATENCY, LATENCY, bounds["memory"] / bytes_of_thread)
    return sass.timed(kernel, pace, launch.tiles)


def predicted(chip, launch, kernel):
    """Predicted clocks of a multiprocessor per block.

    If several blocks are resident, each waits for all others at the busiest resource (the lower bound of the throughput of a
    closed queue: Lazowska et al., Quantitative System Performance, 1984, ch. 5). The last blocks of a launch leave multiprocessors idle.
    """
    blocks = resident(chip, launch, kernel.registers)
    busiest = max(floors(chip, launch, sass.counted(kernel)).values())
    at_once = blocks * chip.multiprocessors
    idle = math.ceil(launch.blocks / at_once) * at_once / launch.blocks
    return idle * (sum(alone(chip, launch, kernel).values()) + (blocks - 1) * busiest) / blocks


def nanoseconds(chip, launch, clocks):
    """Converts clocks of a multiprocessor per block to nanoseconds per point."""
    return 1e9 * clocks / launch.points / chip.clock / chip.multiprocessors
