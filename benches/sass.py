"""Operations of a thread of a kernel, counted in the disassembly by `nvdisasm`.

A thread is followed from the entry to the exit. A forward branch that skips a part is not taken, because the part is the work of an
existing point; it is taken if the part calls a function, which only slow paths do, and if it leads to an alternative path with fewer
conditions. The body of a loop counts with the number of its iterations if the loop counts in steps between two constants; otherwise once,
and the loop is reported. A loop with barriers is an exception: a block does one tile per iteration, and one tile is counted.
"""

import math
import re
from typing import NamedTuple

WORD = 8  # bytes
FP64 = {"DADD", "DFMA", "DMNMX", "DMUL", "DSETP"}
FP32 = {"FADD", "FFMA", "FMNMX", "FMUL", "FSETP"}
LOADS = {"LD", "LDG", "LDGSTS"}
GLOBAL = LOADS | {"ST", "STG"}
SHARED = {"LDS", "STS", "LDGSTS"}
LOCAL = {"LDL", "STL"}
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}  # bytes; others have 4
LINE = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
LABEL = re.compile(r"(\.[\w.$]+):")
TARGET = re.compile(r"`\((\.[\w.$]+)\)")
REGISTER = re.compile(r"\bU?R\d+\b")


class Instruction(NamedTuple):
    address: int
    predicate: str  # empty, or such as !P0
    opcode: str
    operands: str
    target: int | None  # instruction that a branch jumps to

    @property
    def base(self):
        return self.opcode.partition(".")[0]

    @property
    def is_never(self):
        """Whether the instruction is issued without effect."""
        return self.predicate in ("!PT", "!UPT")

    @property
    def bytes(self):
        return next((WIDTHS[part] for part in self.opcode.split(".")[1:] if part in WIDTHS), 4)

    @property
    def written(self):
        """Registers of the result."""
        first = REGISTER.match(self.operands)
        if not first or self.base.startswith("ST"):
            return []
        kind, number = re.fullmatch(r"(U?R)(\d+)", first[0]).groups()
        many = 2 if self.opcode == "CS2R" else max(1, self.bytes // 4)
        return [f"{kind}{int(number) + at}" for at in range(many)]

    @property
    def condition(self):
        """Predicate of a branch: its guard, or its first operand."""
        of_operands = re.match(r"!?(U?P\d)\b", self.operands)
        return self.predicate.lstrip("!") or (of_operands[1] if of_operands else "")


class Kernel(NamedTuple):
    code: list
    registers: int
    frame: int  # bytes per thread in device memory


class Counts(NamedTuple):
    """Counts of one thread and one of its tiles."""

    instructions: int
    fp64: int
    fp32: int
    shared: float  # words loaded and stored
    loaded: float  # words of device memory, including repeated loads from caches
    stored: float
    local: int  # loads and stores of spilled registers
    barriers: int
    guarded: int  # memory accesses with a predicate, counted as if it were true
    beside: int  # instructions in the text but not on the path
    unknown: list  # addresses of loops that are counted once


def parsed(text, entry):
    """Parses the kernel `entry` in the output of `nvdisasm`."""
    section = text.partition(f"\n.text.{entry}:\n")[2].partition("\n//-----")[0]
    lines, labels = [], {}
    for line in section.splitlines():
        if found := LINE.match(line.replace(".reuse", "")):
            lines.append(found.groups())
        elif found := LABEL.match(line):
            labels[found[1]] = len(lines)
    code = []
    for address, predicate, opcode, operands in lines:
        label = TARGET.search(operands) if opcode.startswith("BRA") else None
        code.append(Instruction(int(address, 16), predicate or "", opcode, operands, labels.get(label[1]) if label else None))
    return Kernel(code, attribute(text, "REGCOUNT", entry), attribute(text, "FRAME_SIZE", entry))


def attribute(text, name, entry):
    value = rf"EIATTR_{name}\n(?:(?!EIATTR).)*?index@\({re.escape(entry)}\)\s+/\*\w+\*/\s+\.word\s+(0x\w+)"
    found = re.search(value, text, re.DOTALL)
    return int(found[1], 16) if found else 0


def trips(body, before, branch):
    """Number of iterations of a loop whose counter starts at a constant, grows by a constant, and is compared with a constant; else None."""
    test = next((at for at in reversed(range(len(body))) if is_test(body[at], branch.condition)), None)
    if test is None:
        return None
    compared = re.fullmatch(r"U?P\w+, U?PT, (U?R\d+), (0x[0-9a-f]+), U?PT", body[test].operands)
    if not compared:
        return None
    counter, end = compared[1], int(compared[2], 16)
    steps = [(at, step) for at, one in enumerate(body) if (step := step_of(one, counter))]
    writers = [at for at, one in enumerate(body) if counter in one.written]
    start = next((value_of(one, counter) for one in reversed(before) if counter in one.written), None)
    if [at for at, _ in steps] != writers or len(steps) != 1 or start is None:
        return None
    at, step = steps[0]
    end += any(part in ("GT", "LE") for part in body[test].opcode.split("."))
    # One more iteration if the counter is compared before it grows.
    return max(1, math.ceil((end - start) / step) + (at > test))


def is_test(one, predicate):
    return one.base in ("ISETP", "UISETP") and re.match(rf"{predicate}\b", one.operands) is not None


def step_of(one, register):
    """Increment of a register by an instruction."""
    added = rf"{register}, (?:U?PT, U?PT, )?{register}, (0x[0-9a-f]+)(?:, U?RZ)?"
    found = re.fullmatch(added, one.operands) if one.base in ("IADD", "IADD3", "UIADD3", "VIADD") else None
    return int(found[1], 16) if found else None


def value_of(one, register):
    """Constant that an instruction stores in a register."""
    if one.base == "CS2R" and one.operands.endswith("SRZ"):
        return 0
    moved = rf"{register}, (?:U?RZ, U?RZ, )?(0x[0-9a-f]+|U?RZ)"
    found = re.fullmatch(moved, one.operands) if "MOV" in one.opcode else None
    return found and (0 if found[1].endswith("RZ") else int(found[1], 16))


def is_detour(code, at):
    """Whether the part that a branch can skip is one of two paths to the same place, and the one with more conditions."""
    target = code[at].target
    last = code[target - 1]
    if last.base != "BRA" or last.condition or (last.target or 0) <= target:
        return False
    here, there = [sum(one.target is not None and bool(one.condition) for one in part) for part in (code[at + 1 : target], code[target : last.target])]
    return here > there


class Path(NamedTuple):
    """Instructions that a thread executes."""

    passed: list  # (instruction, number of executions) in order
    tile: slice  # part of them that does one tile: all, if there is one tile
    unknown: list  # addresses of loops with an unknown number of iterations

    @property
    def of_tile(self):
        return self.passed[self.tile]


def executed_path(code):
    """Returns the path of a thread from the entry to the exit."""
    at, order, times, unknown, tile = 0, [], {}, [], slice(None)
    while at < len(code):
        one = code[at]
        order.append(at)
        times[at] = 1
        after = at + 1
        if one.base == "EXIT" and not one.predicate:
            break
        if one.target is not None and one.target > at:
            skipped = code[at + 1 : one.target]
            if not one.condition or any(other.base == "CALL" for other in skipped) or is_detour(code, at):
                after = one.target
        elif one.target == at:
            break
        elif one.target is not None:
            first = order.index(one.target) if one.target in times else None
            if first is None:
                raise ValueError(f"backward branch to an instruction off the path, at {one.address:#x}")
            inside = order[first:]
            # For sm_80 ptxas leaves a loop by a conditional call directly before the backward branch.
            ends = (i for i in inside if (code[i].target or 0) > at or code[i].base == "EXIT" or (i == at - 1 and is_left_by_call(code[i])))
            leaves = at if one.condition else next(ends, None)
            if leaves is None:
                raise ValueError(f"endless loop, at {one.address:#x}")
            iterations = trips([code[i] for i in inside], [code[i] for i in order[:first]], code[leaves])
            if iterations is None and any(is_barrier(code[i]) for i in inside):
                tile = slice(first, len(order))
            elif iterations is None:
                unknown.append(one.address)
            for i in inside:
                times[i] *= iterations or 1
            after = at + 1 if leaves == at or is_left_by_call(code[leaves]) else code[leaves].target or len(code)
        at = after
    return Path([(code[at], times[at]) for at in order], tile, unknown)


def is_left_by_call(one):
    return one.base == "CALL" and one.predicate != ""


def is_barrier(one):
    return one.opcode.startswith("BAR.SYNC") and not one.is_never


def counted(kernel):
    """Counts of a thread."""
    path = executed_path(kernel.code)

    def count(where):
        return sum(times for one, times in path.of_tile if where(one))

    def words(names):
        return sum(times * one.bytes for one, times in path.of_tile if one.base in names and not one.is_never) / WORD

    return Counts(
        instructions=count(lambda one: True),
        fp64=count(lambda one: one.base in FP64),
        fp32=count(lambda one: one.base in FP32),
        shared=words(SHARED),
        loaded=words(LOADS),
        stored=words(GLOBAL - LOADS),
        local=count(lambda one: one.base in LOCAL),
        barriers=count(is_barrier),
        guarded=count(lambda one: one.base in SHARED | GLOBAL and one.predicate and not one.is_never),
        beside=sum(one.base != "NOP" and one.target != at for at, one in enumerate(kernel.code)) - len(path.passed),
        unknown=path.unknown,
    )


class Pace(NamedTuple):
    """Costs of a block that is alone, in cycles."""

    instruction: float  # for all its warps
    barrier: float  # until values of other threads are available
    load: float  # until the first byte arrives from device memory
    byte: float  # per byte of every thread, from or to device memory


class Clock:
    """Time of a block that is alone: computation, waits at barriers, and waits for device memory.

    Loads and stores are done in the order of their requests, concurrently with the instructions; a thread waits for the values that it uses.
    """

    def __init__(self, pace):
        self.pace = pace
        self.times = {"computing": 0.0, "barriers": 0.0, "memory": 0.0}
        self.free = 0.0  # time at which memory has completed all requests
        self.arrivals = {}  # times at which registers have their values
        self.last_arrival, self.groups = 0.0, []  # completion times of the last load or copy, and of groups of copies

    @property
    def now(self):
        return sum(self.times.values())

    def wait(self, until):
        self.times["memory"] += max(0.0, until - self.now)

    def issue(self, one, times):
        self.wait(max((self.arrivals[register] for register in REGISTER.findall(one.operands) if register in self.arrivals), default=0.0))
        if one.opcode == "DEPBAR.LE" and (pending := re.match(r"SB0, (0x[0-9a-f]+)", one.operands)):
            self.wait(max(self.groups[: len(self.groups) - int(pending[1], 16)], default=0.0))
        self.times["computing"] += self.pace.instruction * times
        if is_barrier(one):
            self.times["barriers"] += self.pace.barrier * times
        if one.base == "LDGDEPBAR":
            self.groups.append(self.last_arrival)
        if one.base in GLOBAL and not one.is_never:
            self.free = max(self.free, self.now) + times * one.bytes * self.pace.byte
            if one.base in LOADS:
                self.last_arrival = max(self.free, self.now + self.pace.load)
                self.arrivals |= {register: self.last_arrival for register in one.written if one.base != "LDGSTS"}
        # There is no wait for a register that is overwritten.
        else:
            for register in one.written:
                self.arrivals.pop(register, None)


def timed(kernel, pace, tiles=1):
    """Cycles per tile, by cause, of a block that is alone and does `tiles` tiles in turn."""
    path, clock = executed_path(kernel.code), Clock(pace)
    start, end, _ = path.tile.indices(len(path.passed))
    for steps in [path.passed[:start], *[path.of_tile] * tiles, path.passed[end:]]:
        for one, times in steps:
            clock.issue(one, times)
    # Memory is free for the next block only after the stores of this one.
    clock.wait(clock.free)
    return {name: time / tiles for name, time in clock.times.items()}
