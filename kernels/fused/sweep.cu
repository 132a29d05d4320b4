// fused: a whole sweep, a block a tile of lines (tile.cu), a thread a chunk. The host writes FIELDS (the parameters: fields
// that are read, fields that are written) and SWEEP: fields loaded late, and those that are only read once more where
// registers are short; products formed where an operator needs them; every operator on chip (apply.cu), its result added at
// once to the sums that it is part of; every sum stored when it is complete.
//   tables   of all operators that have some, one after another                   read
//   scalars  from `first` on: beta and the advance of the run                     read
//   traffic: each field that is read once (again from the caches), each that is written once, and once more where it is
//            added to
//   on-chip  ON_CHIP_WORDS: one field of the tile, what eliminate.cu exchanges, and what is parked
//   barriers: those of the operators; along x one a field loaded or stored, and one before where on-chip memory may still
//            be read
KERNEL_OF(THREADS) void fused(
    FIELDS, GLOBAL const REAL *restrict tables, GLOBAL const REAL *restrict scalars, int first)
{
    ON_CHIP(chip, ON_CHIP_WORDS);
    const Tile tile = tile_of(blockIdx.x, threadIdx.x);
    const REAL beta = scalars[first], advance = scalars[first + 1];
    SWEEP
}
