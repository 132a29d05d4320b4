// fused: a whole sweep, a thread a chunk, a block a tile of lines (tile.cu) or several in turn. The host writes FIELDS (the
// parameters: fields that are read, fields that are written), FIRST_TILE (what comes for it) and SWEEP: fields that come on chip
// while operators work, where there is room, or are loaded late; those that are only read once more where registers are short;
// products formed where an operator needs them; every operator on chip (apply.cu), its result added at once to the sums that
// it is part of; every sum stored when it is complete.
//   tables   of all operators that have some, one after another, TABLE_WORDS in all, which a block copies on chip: an assembler keeps what
//            cannot change in registers from one operator to the next, and has none left; then the columns of inflow.cu       read
//   scalars  from `first` on: beta and the advance of the run                     read
//   traffic: each field that is read once (again from the caches), each that is written once, and once more where it is
//            added to
//   on-chip  ON_CHIP_WORDS: one field of the tile, what eliminate.cu exchanges, tables, places, what is parked and what comes
//   IN_TURN  whether a block does one tile after another: not where tiles are no more than blocks, but in the same text, of whose
//            registers is known that they suffice
//   barriers: those of the operators; along x one a field loaded or stored, and one before where on-chip memory may still
//            be read
#if IN_TURN
// What begins a tile comes while the block does the one before.
#define BRING_LATER(place, f, chip, tile) \
    if (number + BLOCKS < TILES) bring(place, f, chip, tile_of(number + BLOCKS, tile.thread))
#else
#define BRING_LATER(place, f, chip, tile)
#endif

#define ON_CHIP_TABLES (chip + TABLES_AT)

KERNEL_OF(THREADS) void fused(
    FIELDS, GLOBAL const REAL *tables, GLOBAL const REAL *restrict scalars, int first)
{
    ON_CHIP(chip, ON_CHIP_WORDS);
    const REAL beta = scalars[first], advance = scalars[first + 1];
    int number = blockIdx.x;
    Tile tile = tile_of(number, threadIdx.x);
#if PLACES > 0
    work_out_places(chip, tile);
#endif
    // They are there behind the first barrier of an operator.
    UNROLL for (int at = 0; at < TABLE_WORDS; at += THREADS) {
        if (at + tile.thread < TABLE_WORDS) ON_CHIP_TABLES[at + tile.thread] = tables[at + tile.thread];
    }
    FIRST_TILE
    COPIES_END();
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
