"""Instruction counts. The docstring of each test names the errors that only this test catches."""

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
    """Parses a kernel given by lines: instructions, or labels, which end with a colon."""
    numbered, at = [], 0
    for line in lines.strip().splitlines():
        line = line.strip()
        numbered.append(line if line.endswith(":") else f"        /*{at:04x}*/                   {line} ;")
        at += 0 if line.endswith(":") else 16
    return sass.parsed(HEAD + "\n".join(numbered) + "\n//----- .nv.shared\n        /*0000*/  DADD R0, R0, R0 ;\n", "fused")


def counted(lines):
    return sass.counted(kernel(lines))


def test_registers_and_stack_frame_are_those_of_the_kernel():
    """Catches the attributes of another function in the same section."""
    found = kernel("EXIT")
    assert (found.registers, found.frame, len(found.code)) == (0x28, 0x10, 1)


def test_of_two_alternative_paths_the_one_with_fewer_conditions_is_counted():
    """Catches that the path for points beyond the end of a field is counted, or both paths."""
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
    """Catches accesses that all count as one word, a never executed access that counts, and a predicated access that does not."""
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


def test_conversions_and_integer_operations_are_not_counted_as_arithmetic():
    """Catches that every opcode beginning with D or F counts as arithmetic in that precision."""
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
    ("start", "step", "test", "iterations"),
    [
        ("CS2R R2, SRZ", "VIADD R3, R3, 0x1", "ISETP.NE.AND P0, PT, R3, 0x4, PT", 4),
        ("MOV R3, 0x2", "IADD3 R3, R3, 0x3, RZ", "ISETP.GE.AND P0, PT, R3, 0x9, PT", 3),
        ("UMOV UR4, URZ", "UIADD3 UR4, UPT, UPT, UR4, 0x1, URZ", "UISETP.GT.AND UP0, UPT, UR4, 0x4, UPT", 5),
    ],
)
def test_loop_bodies_count_with_their_number_of_iterations(start, step, test, iterations):
    """Catches loop bodies that are counted once, and instructions before or after a loop that are counted more than once."""
    back = "BRA.U UP0, `(.L_x_1)" if "UP0" in test else "@P0 BRA `(.L_x_1)"
    found = counted(f"{start}\nDADD R8, R8, R8\n.L_x_1:\nLDS.64 R4, [R9]\n{step}\n{test}\nBAR.SYNC 0x0\n{back}\nDMUL R8, R8, R8\nEXIT")
    assert (found.shared, found.barriers, found.fp64, found.instructions) == (iterations, iterations, 2, 4 + 5 * iterations)
    assert found.unknown == []


def test_a_counter_compared_before_its_increment_adds_an_iteration():
    """Catches a missing iteration."""
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


def test_iterations_of_nested_loops_multiply():
    """Catches an inner loop that is counted only for one iteration of the outer loop."""
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


def test_a_loop_with_unknown_number_of_iterations_is_reported():
    """Catches an invented number of iterations."""
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
    """Catches missing work behind a guard, and counted code that only denormal numbers need or that follows the exit."""
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


def waiting_cycles(*lines):
    """Cycles that a block with these instructions and an exit waits at barriers and for memory."""
    times = sass.timed(kernel("\n".join([*lines, "EXIT"])), PACE)
    assert times["computing"] == 4 * (len(lines) + 1)
    return times["barriers"], times["memory"]


def test_a_thread_waits_for_a_loaded_value_at_its_first_use():
    """Catches concurrent loads timed as sequential, overlapping work counted as waiting, and a thread that waits for its stores."""
    first, second = "LDG.E.64 R2, desc[UR8][R20.64]", "LDG.E.64 R4, desc[UR8][R22.64]"
    uses = "STS.64 [R9], R2", "STS.64 [R9+0x8], R4"
    # The second load is issued one instruction later, and the use of the first takes one instruction.
    assert waiting_cycles(first, second, *uses) == (0, 600 - 4)
    assert waiting_cycles(first, uses[0], second, uses[1]) == (0, 1200)
    assert waiting_cycles(first, *["DADD R6, R6, R6"] * 100, uses[0]) == (0, 200)
    assert waiting_cycles("BAR.SYNC 0x0", first, "BAR.SYNC 0x0", uses[0]) == (60, 600 - 4 - 30)
    store = "STG.E.64 desc[UR8][R20.64], R6"
    assert waiting_cycles(store, *["DADD R6, R6, R6"] * 100) == (0, 0)


def test_memory_transfers_words_sequentially():
    """Catches a transfer rate above that of the memory, and a block that ends before its last words are transferred."""
    first = [f"LDG.E.64 R{2 * at}, desc[UR8][R90.64]" for at in range(1, 21)]
    # Twenty words take 1600 cycles; 76 cycles pass between the requests of the first and the last word.
    assert waiting_cycles(*first, "STS.64 [R9], R40") == (0, 1600 - 76)
    store = "STG.E.64 desc[UR8][R20.64], R6"
    assert waiting_cycles(*[store] * 10) == (0, 800 - 40)


def test_asynchronous_copies_are_awaited_by_groups():
    """Catches waiting for all groups where some may be pending, and copies treated as loads into registers."""
    copy, end = "LDGSTS.E.64 [R9], desc[UR8][R2.64]", "LDGDEPBAR"
    last_but_one, last = "DEPBAR.LE SB0, 0x1", "DEPBAR.LE SB0, 0x0"
    work = ["DADD R6, R6, R6"] * 100
    assert waiting_cycles(copy, end, *work, copy, end, last_but_one) == (0, 600 - 4 - 400 - 4 - 4)
    assert waiting_cycles(copy, end, *work, copy, end, last) == (0, 600 - 4)
    assert waiting_cycles(copy, end, "STS.64 [R9], R9", *work, *work, last) == (0, 0)


def test_one_iteration_of_a_loop_over_tiles_is_counted_and_timed():
    """Catches counted instructions before the first tile, prefetches counted as waiting, and all tiles timed as the first one."""
    load, use, last = "LDG.E.64 R2, desc[UR8][R20.64]", "STS.64 [R9], R2", "@!P0 BRA `(.L_x_1)"
    tile = ["BAR.SYNC 0x0", "ISETP.GE.AND P0, PT, R3, R7, PT"]
    work = ["DADD R6, R6, R6"] * 147
    prefetching = kernel("\n".join([load, ".L_x_1:", use, load, *work, *tile, last, "EXIT"]))
    found = sass.counted(prefetching)
    assert (found.instructions, found.loaded, found.fp64, found.barriers, found.unknown) == (152, 1, 147, 1, [])
    # The first tile waits for its load, which nothing precedes; the first load and the exit are instructions, too.
    assert sass.timed(prefetching, PACE, 10) == {"computing": (6080 + 8) / 10, "barriers": 30, "memory": 60}
    # A conditional exit or call in the last tile may end the loop; all other tiles branch back.
    for leaves in ["@P0 EXIT", "@P0 CALL.REL.NOINC `(.L_x_2)"]:
        inside = kernel("\n".join([load, ".L_x_1:", use, load, *work, *tile, leaves, "BRA `(.L_x_1)", ".L_x_2:", "EXIT"]))
        assert sass.counted(inside)[:3] == (153, 147, 0)
    late = kernel("\n".join([".L_x_1:", load, use, *work, *tile, last, "EXIT"]))
    assert sass.timed(late, PACE, 10) == {"computing": (6080 + 4) / 10, "barriers": 30, "memory": 600}


def test_the_scarcest_resource_limits_the_resident_blocks():
    """Catches registers allocated per thread instead of per warp and quarter, and the omission of the system's kilobyte per block."""
    chip = chips.Chip("a chip", 90, 228 << 10, 100, 1e9, 1e12, 64, 128)

    def resident(threads, registers, on_chip):
        return chips.resident(chip, chips.Launch(threads, 2048, 1, on_chip, 1, 8), registers)

    assert resident(512, 128, 0) == 1
    # 9 warps of 104 registers: a quarter has room for 4 warps, so a multiprocessor has room for 16, not 19.
    assert (resident(288, 104, 0), resident(128, 128, 0), resident(128, 33, 0), resident(32, 32, 0)) == (1, 4, 12, 32)
    assert (resident(128, 64, (57 << 10) - 1024), resident(128, 64, (57 << 10) - 1023)) == (4, 3)


def test_lower_bounds_and_predictions_follow_from_the_counts():
    """Catches bytes mistaken for words, threads for warps, and several resident blocks timed as a single block."""
    memory = 100 * 1e9 * 16 / chips.ACHIEVED  # achieves 16 bytes per clock and multiprocessor
    chip = chips.Chip("a chip", 90, 228 << 10, 100, 1e9, memory, 64, 128)
    one = kernel("LDS.64 R2, [R9]\nDADD R2, R2, R2\nBAR.SYNC 0x0\nSTG.E.64 desc[UR8][R20.64], R6\nEXIT")
    launch = chips.Launch(threads=256, points=512, blocks=1000, on_chip=114 << 10, words=2, real=8)
    least = chips.floors(chip, launch, sass.counted(one))
    assert least == pytest.approx({"memory": 512, "shared": 16, "arithmetic": 4, "issue": 10})
    # The store is requested after 12.8 of the 16 clocks of computation.
    block = 16 * 4 / 5 + 30 + 512
    assert chips.predicted(chip, launch, one) == pytest.approx(block)
    two = launch._replace(on_chip=100 << 10)
    assert chips.predicted(chip, two, one) == pytest.approx((block + 512) / 2)
    # 1001 blocks, of which 200 are resident at a time, take six rounds, not 5.005.
    late = two._replace(blocks=1001)
    assert chips.predicted(chip, late, one) == pytest.approx((block + 512) / 2 * 1200 / 1001)
    assert math.isclose(chips.nanoseconds(chip, launch, 512), 0.01)


def test_the_kernels_of_a_stage_are_generated_and_counted():
    """Catches changes in the kernel sources or in the output of the disassembler that the parser does not handle."""
    command = [ROOT / "benches" / "sweep_counts", "--points", "64", "--capabilities", "90", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    [found] = json.loads(result.stdout)
    kernels = {kernel["name"]: kernel for kernel in found["kernels"]}
    assert found["stage"] == ["gradients b", "a", "b", "c with gradients"] and len(kernels) == 6
    # docs/benchmarks.md states the number of words that a stage moves; each is loaded or stored at least once.
    assert sum(kernels[name]["words"] for name in found["stage"]) == 74
    for name, kernel in kernels.items():
        point = kernel["per_point"]
        assert point["loaded"] + point["stored"] >= kernel["words"] and point["local"] == kernel["frame"] == 0
        # Along x, code that loads lines beyond the last one is off the path. Everything else is on it: no division has a slow path.
        assert kernel["beside"] < (1500 if name == "a" else 1) and not kernel["loops_counted_once"], kernel
