"""Counting of instructions: each test's sentence is the mistake that it alone catches."""

import json
import math
import subprocess
from pathlib import Path

import chips
import pytest
import sass

ROOT = Path(__file__).resolve().parents[2]
HEAD = """
	//----- nvinfo : EIATTR_REGCOUNT
        /*0004*/ 	.word	index@(fused)
        /*0008*/ 	.word	0x00000028

	//----- nvinfo : EIATTR_FRAME_SIZE
        /*0010*/ 	.word	index@($__internal_0_$slow)
        /*0014*/ 	.word	0x00000030

	//----- nvinfo : EIATTR_FRAME_SIZE
        /*001c*/ 	.word	index@(fused)
        /*0020*/ 	.word	0x00000010

//--------------------- .text.fused               --------------------------
	.section	.text.fused,"ax",@progbits
.text.fused:
"""


def kernel(lines):
    """Of lines that are instructions, or labels where they end with a colon."""
    numbered, at = [], 0
    for line in lines.strip().splitlines():
        line = line.strip()
        numbered.append(line if line.endswith(":") else f"        /*{at:04x}*/                   {line} ;")
        at += 0 if line.endswith(":") else 16
    return sass.parsed(HEAD + "\n".join(numbered) + "\n//----- .nv.shared\n        /*0000*/  DADD R0, R0, R0 ;\n", "fused")


def counted(lines):
    return sass.counted(kernel(lines))


def test_registers_and_memory_are_those_of_the_kernel():
    """The numbers of a function that the compiler put beside it."""
    found = kernel("EXIT")
    assert (found.registers, found.frame, len(found.code)) == (0x28, 0x10, 1)


def test_of_two_ways_to_one_place_the_one_with_fewer_conditions_is_taken():
    """The way of points beyond the end of a field counted, or both ways."""
    found = counted("""
        @P0 BRA `(.L_x_1)
        @P1 BRA `(.L_x_0)
        LDG.E.64 R2, desc[UR8][R20.64]
        STS.64 [R9], R2
    .L_x_0:
        @P2 BRA `(.L_x_2)
        STS.64 [R9+0x8], RZ
        BRA `(.L_x_2)
    .L_x_1:
        LDG.E.64 R2, desc[UR8][R20.64]
        LDG.E.64 R4, desc[UR8][R20.64+0x8]
        STS.128 [R9], R2
    .L_x_2:
        BAR.SYNC.DEFER_BLOCKING 0x0
        EXIT
    """)
    assert (found.loaded, found.shared, found.barriers) == (2, 2, 1)


def test_accesses_count_by_their_width():
    """Every access taken for one word; one that is never made counted; one behind a predicate left out."""
    found = counted("""
        LDS R0, [R9]
        LDS.64 R2, [R9+0x8]
        LDS.128 R4, [R9+0x10]
        @P0 STS.64 [R9], R2
        @!PT LDS RZ, [RZ]
        LDG.E.64.CONSTANT R10, desc[UR8][R20.64]
        LDG.E R12, desc[UR8][R20.64+0x8]
        STG.E.128 desc[UR8][R20.64], R4
        STL.64 [R1], R2
        BAR.SYNC.DEFER_BLOCKING 0x0
        EXIT
    """)
    assert (found.shared, found.loaded, found.stored, found.local) == (0.5 + 1 + 2 + 1, 1.5, 2, 1)
    assert (found.instructions, found.barriers, found.guarded) == (11, 1, 1)


def test_arithmetic_is_told_from_conversions_and_addresses():
    """All that begins with the letter of a format counted as its arithmetic."""
    found = counted("""
        DFMA R4, R2, R2, R4
        DADD R4, R4, R2
        DSETP.GT.AND P0, PT, R4, R2, PT
        DEPBAR.LE SB0, 0x0
        FFMA R0, R1, R2, R3
        F2F.F64.F32 R2, R0
        FLO.U32 R0, R1
        EXIT
    """)
    assert (found.fp64, found.fp32) == (3, 1)


@pytest.mark.parametrize(
    ("start", "step", "test", "rounds"),
    [
        ("CS2R R2, SRZ", "VIADD R3, R3, 0x1", "ISETP.NE.AND P0, PT, R3, 0x4, PT", 4),
        ("MOV R3, 0x2", "IADD3 R3, R3, 0x3, RZ", "ISETP.GE.AND P0, PT, R3, 0x9, PT", 3),
        ("UMOV UR4, URZ", "UIADD3 UR4, UPT, UPT, UR4, 0x1, URZ", "UISETP.GT.AND UP0, UPT, UR4, 0x4, UPT", 5),
    ],
)
def test_a_loop_counts_as_often_as_it_goes_round(start, step, test, rounds):
    """Loops counted once, or what stands before and behind them more than once."""
    back = "BRA.U UP0, `(.L_x_1)" if "UP0" in test else "@P0 BRA `(.L_x_1)"
    found = counted(f"{start}\nDADD R8, R8, R8\n.L_x_1:\nLDS.64 R4, [R9]\n{step}\n{test}\nBAR.SYNC 0x0\n{back}\nDMUL R8, R8, R8\nEXIT")
    assert (found.shared, found.barriers, found.fp64, found.instructions) == (rounds, rounds, 2, 4 + 5 * rounds)
    assert found.unknown == []


def test_a_counter_that_is_compared_before_it_grows_goes_round_once_more():
    """A round lost."""
    found = counted("""
        MOV R3, RZ
        .L_x_1:
        ISETP.NE.AND P0, PT, R3, 0x4, PT
        VIADD R3, R3, 0x1
        LDS.64 R4, [R9]
        @P0 BRA `(.L_x_1)
        EXIT
    """)
    assert found.shared == 5


def test_loops_in_loops_multiply():
    """The rounds of the inner loop counted once."""
    found = counted("""
        MOV R3, RZ
        .L_x_1:
        MOV R4, RZ
        .L_x_2:
        DADD R8, R8, R8
        VIADD R4, R4, 0x1
        ISETP.NE.AND P0, PT, R4, 0x5, PT
        @P0 BRA `(.L_x_2)
        VIADD R3, R3, 0x1
        ISETP.NE.AND P0, PT, R3, 0x3, PT
        @P0 BRA `(.L_x_1)
        EXIT
    """)
    assert found.fp64 == 15


def test_a_loop_with_an_unknown_end_is_named():
    """A number of rounds made up."""
    found = counted("""
        MOV R3, RZ
        .L_x_1:
        DADD R8, R8, R8
        VIADD R3, R3, 0x1
        ISETP.NE.AND P0, PT, R3, R7, PT
        @P0 BRA `(.L_x_1)
        EXIT
    """)
    assert (found.fp64, found.unknown) == (1, [0x40])


def test_guarded_work_counts_and_slow_paths_do_not():
    """Points behind a guard lost; what only denormal numbers need, or what stands behind the exit, counted."""
    found = counted("""
        @P0 BRA `(.L_x_1)
        LDG.E.64 R4, desc[UR8][R2.64]
        .L_x_1:
        @P1 BRA `(.L_x_2)
        MOV R0, 0x0
        CALL.REL.NOINC `($__internal_0_$slow)
        DADD R4, R4, R4
        .L_x_2:
        BRA `(.L_x_4)
        .L_x_3:
        DMUL R4, R4, R4
        EXIT
        .L_x_4:
        @P2 EXIT
        STG.E.64 desc[UR8][R2.64], R4
        EXIT
        DMUL R4, R4, R4
        .L_x_5:
        BRA `(.L_x_5)
        NOP
    """)
    assert (found.loaded, found.stored, found.fp64, found.instructions, found.beside) == (1, 1, 0, 7, 6)


PACE = sass.Pace(instruction=4.0, barrier=30.0, load=600.0, byte=10.0)


def waited(*lines):
    """Cycles at barriers and for memory of a block with these instructions before its end."""
    times = sass.timed(kernel("\n".join([*lines, "EXIT"])), PACE)
    assert times["computing"] == 4 * (len(lines) + 1)
    return times["barriers"], times["memory"]


def test_a_thread_waits_for_what_it_uses_when_it_uses_it():
    """A batch of loads taken for one after another, work meanwhile for waiting, or what a store leaves to memory for waiting."""
    first, second = "LDG.E.64 R2, desc[UR8][R20.64]", "LDG.E.64 R4, desc[UR8][R22.64]"
    uses = "STS.64 [R9], R2", "STS.64 [R9+0x8], R4"
    # The second of a batch is issued an instruction later, and the use of the first takes one.
    assert waited(first, second, *uses) == (0, 600 - 4)
    assert waited(first, uses[0], second, uses[1]) == (0, 1200)
    assert waited(first, *["DADD R6, R6, R6"] * 100, uses[0]) == (0, 200)
    assert waited("BAR.SYNC 0x0", first, "BAR.SYNC 0x0", uses[0]) == (60, 600 - 4 - 30)
    store = "STG.E.64 desc[UR8][R20.64], R6"
    assert waited(store, *["DADD R6, R6, R6"] * 100) == (0, 0)


def test_memory_moves_one_word_after_another():
    """More words at a time than memory moves, or a block over before its last words have moved."""
    first = [f"LDG.E.64 R{2 * at}, desc[UR8][R90.64]" for at in range(1, 21)]
    # Twenty words take 1600 cycles; 76 go by from when the first is asked for until the last is.
    assert waited(*first, "STS.64 [R9], R40") == (0, 1600 - 76)
    store = "STG.E.64 desc[UR8][R20.64], R6"
    assert waited(*[store] * 10) == (0, 800 - 40)


def test_copies_are_waited_for_by_groups():
    """All groups waited for where some may still come, or copies taken for loads into registers."""
    copy, end = "LDGSTS.E.64 [R9], desc[UR8][R2.64]", "LDGDEPBAR"
    last_but_one, last = "DEPBAR.LE SB0, 0x1", "DEPBAR.LE SB0, 0x0"
    work = ["DADD R6, R6, R6"] * 100
    assert waited(copy, end, *work, copy, end, last_but_one) == (0, 600 - 4 - 400 - 4 - 4)
    assert waited(copy, end, *work, copy, end, last) == (0, 600 - 4)
    assert waited(copy, end, "STS.64 [R9], R9", *work, *work, last) == (0, 0)


def test_of_a_loop_over_tiles_one_is_counted_and_timed():
    """What comes before the first tile counted, loads for the next tile taken for waiting, or the first tile for all."""
    load, use, last = "LDG.E.64 R2, desc[UR8][R20.64]", "STS.64 [R9], R2", "@!P0 BRA `(.L_x_1)"
    tile = ["BAR.SYNC 0x0", "ISETP.GE.AND P0, PT, R3, R7, PT"]
    work = ["DADD R6, R6, R6"] * 147
    of_next = kernel("\n".join([load, ".L_x_1:", use, load, *work, *tile, last, "EXIT"]))
    found = sass.counted(of_next)
    assert (found.instructions, found.loaded, found.fp64, found.barriers, found.unknown) == (152, 1, 147, 1, [])
    # The first tile waits for what nothing came before; the load and the end of the block are instructions, too.
    assert sass.timed(of_next, PACE, 10) == {"computing": (6080 + 8) / 10, "barriers": 30, "memory": 60}
    # The last tile may end the thread, and all others go back.
    for leaves in ["@P0 EXIT", "@P0 CALL.REL.NOINC `(.L_x_2)"]:
        inside = kernel("\n".join([load, ".L_x_1:", use, load, *work, *tile, leaves, "BRA `(.L_x_1)", ".L_x_2:", "EXIT"]))
        assert sass.counted(inside)[:3] == (153, 147, 0)
    late = kernel("\n".join([".L_x_1:", load, use, *work, *tile, last, "EXIT"]))
    assert sass.timed(late, PACE, 10) == {"computing": (6080 + 4) / 10, "barriers": 30, "memory": 600}


def test_blocks_are_held_by_what_is_scarcest():
    """Registers counted a thread and not a warp and quarter, or the kilobyte of the system forgotten."""
    chip = chips.Chip("a chip", 90, 228 << 10, 100, 1e9, 1e12, 64, 128)

    def held(threads, registers, on_chip):
        return chips.resident(chip, chips.Launch(threads, 2048, 1, on_chip, 1, 8), registers)

    assert held(512, 128, 0) == 1
    # 9 warps of 104 registers: a quarter takes 4, so that there are 16, not 19.
    assert (held(288, 104, 0), held(128, 128, 0), held(128, 33, 0), held(32, 32, 0)) == (1, 4, 12, 32)
    assert (held(128, 64, (57 << 10) - 1024), held(128, 64, (57 << 10) - 1023)) == (4, 3)


def test_floors_and_the_prediction_follow_from_the_counts():
    """Bytes for words, threads for warps, or several blocks taken for one that is alone."""
    memory = 100 * 1e9 * 16 / chips.ACHIEVED  # of which 16 bytes a clock and multiprocessor are had
    chip = chips.Chip("a chip", 90, 228 << 10, 100, 1e9, memory, 64, 128)
    one = kernel("LDS.64 R2, [R9]\nDADD R2, R2, R2\nBAR.SYNC 0x0\nSTG.E.64 desc[UR8][R20.64], R6\nEXIT")
    launch = chips.Launch(threads=256, points=512, blocks=1000, on_chip=114 << 10, words=2, real=8)
    least = chips.floors(chip, launch, sass.counted(one))
    assert least == pytest.approx({"memory": 512, "shared": 16, "arithmetic": 4, "issue": 10})
    # The word is asked for when 12.8 of the 16 clocks of computing are over.
    block = 16 * 4 / 5 + 30 + 512
    assert chips.predicted(chip, launch, one) == pytest.approx(block)
    two = launch._replace(on_chip=100 << 10)
    assert chips.predicted(chip, two, one) == pytest.approx((block + 512) / 2)
    # 1001 blocks on 200 places are six rounds, not 5.005.
    late = two._replace(blocks=1001)
    assert chips.predicted(chip, late, one) == pytest.approx((block + 512) / 2 * 1200 / 1001)
    assert math.isclose(chips.nanoseconds(chip, launch, 512), 0.01)


def test_the_kernels_of_a_stage_are_made_and_counted():
    """Texts of kernels, or the words of the disassembler, that are no longer those that are read."""
    command = [ROOT / "benches" / "sweep_counts", "--points", "64", "--capabilities", "90", "--json"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    [found] = json.loads(made.stdout)
    kernels = {kernel["name"]: kernel for kernel in found["kernels"]}
    assert found["stage"] == ["gradients b", "a", "b", "c with gradients"] and len(kernels) == 6
    # docs/benchmarks.md says how many words a stage moves; each is loaded and stored at least once.
    assert sum(kernels[name]["words"] for name in found["stage"]) == 74
    for name, kernel in kernels.items():
        point = kernel["per_point"]
        assert point["loaded"] + point["stored"] >= kernel["words"] and point["local"] == kernel["frame"] == 0
        # Along x how lines beyond the last are loaded. All else is on the path: no division has a slow one.
        assert kernel["beside"] < (1500 if name == "a" else 1) and not kernel["loops_counted_once"], kernel
