// fused: runs a whole sweep along one axis. A thread computes one chunk of a line. A thread block processes one tile of lines
// (tile.cu), or several tiles in turn. The host writes three macros:
//   FIELDS      the first parameters: coefficients of formulas, fields that are read, fields that are written, and the planes of
//               interface values if lines are split across ranks
//   FIRST_TILE_LOADS  statements that start to copy the operands of the first operator on the first tile; empty if not IN_TURN
//   SWEEP       the statements of the sweep on one tile. A field is prefetched to on-chip memory while earlier operators
//               run, if the device has asynchronous copies and there is room (a field that is needed before the first operator
//               only if IN_TURN, a plane never). Otherwise it is loaded just before its first use. If registers are short, the
//               value whose next use is last is parked on chip; without room there, a field that still has its old content in
//               device memory is dropped and loaded again at its next use. A product is computed where an operator needs it.
//               Every operator runs on chip (apply.cu). Its result is added to a sum at once if the sum has been started or if
//               this frees registers. A sum is stored when it is complete.
// Arguments, traffic and barriers:
//   tables   the tables of all operators that have some, one after another, TABLE_WORDS words in all. A thread block copies
//            them to on-chip memory: an assembler keeps values from read-only memory in registers from one operator to the
//            next, and no registers are left for that. The columns of fused/inflow.cu follow; they are not copied    read
//   scalars  scalars[first] is beta, the factor of the old content of a field to which a sum is added; scalars[first + 1]
//            is advance, the factor of a sum that advances a value                  read
//   traffic: each field that is read is read once (a second load comes from the caches), each field that is written is written
//            once, and also read once if its old content is used or if a sum is added to it and beta is not 0
//   on-chip  ON_CHIP_WORDS words: one field of the tile, the exchange area of eliminate.cu, the tables, the staging indices
//            (STAGING_WORDS), then the parked values and the prefetched fields (PARKED)
//   IN_TURN  1 if a thread block processes one tile after another: tiles blockIdx.x, blockIdx.x + BLOCKS, ... The loop is kept if
//            it runs only once: without it the text would be another one, for which the registers might not suffice.
//   barriers: those of the operators; along x, one for each `load`, `load_plane` and `store`, and, if IN_TURN, one per tile for
//            the prefetched operands of the first operator. Other prefetched fields become visible with the barrier of an
//            operator. Along any axis, one more comes before a write to on-chip memory that other threads may still read.
// PREFETCH_NEXT_TILE(place, f, chip, tile) starts to copy field f of this thread block's next tile to on-chip location `place`, if there
// is a next tile. The operands of the first operator are thus in flight while the block still computes the current tile.
// The macro is empty if not IN_TURN.
#if IN_TURN
#define PREFETCH_NEXT_TILE(place, f, chip, tile) \
    if (number + BLOCKS < TILES) prefetch(place, f, chip, tile_of(number + BLOCKS, tile.thread))
#else
#define PREFETCH_NEXT_TILE(place, f, chip, tile)
#endif

// The on-chip copy of the tables.
#define ON_CHIP_TABLES (chip + TABLES_AT)

KERNEL_OF(THREADS) void fused(
    FIELDS, GLOBAL const REAL *tables, GLOBAL const REAL *restrict scalars, int first)
{
    ON_CHIP(chip, ON_CHIP_WORDS);
    const REAL beta = scalars[first], advance = scalars[first + 1];
    int number = blockIdx.x;
    Tile tile = tile_of(number, threadIdx.x);
#if STAGING_WORDS > 0
    compute_staging_indices(chip, tile);
#endif
    // Other threads see the copied tables after the barrier of the first operator.
    UNROLL for (int at = 0; at < TABLE_WORDS; at += THREADS) {
        if (at + tile.thread < TABLE_WORDS) ON_CHIP_TABLES[at + tile.thread] = tables[at + tile.thread];
    }
    FIRST_TILE_LOADS
    COPY_COMMIT();
#if IN_TURN
    _Pragma("unroll 1") for (; number < TILES; number += BLOCKS)
    {
        tile = tile_of(number, threadIdx.x);
        SWEEP
    }
#else
    SWEEP
#endif
}
