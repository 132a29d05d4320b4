// deal: distributes the lines of a block to PARTS ranks, or collects them from the ranks (COLLECT = 1). The part with lines l0 to l1 begins
// at l0 * N * FIELDS in `parts` and has the layout [point][field][line].
//   field    N points per line, neighbouring points INNER apart                      read, or written
//   parts    the parts of all ranks, in order                                        written, or read
//   at       number of this field among the FIELDS fields that are sent together
//   traffic: one field once, and as many words of `parts` once
//   no on-chip memory, no barrier
// START(line): index of the first point of a line. LINES_PER_PART: LINES / PARTS, rounded down; the first LONGER_PARTS parts have one line
// more.
#define START(line) ((line) / INNER * ((int64)INNER * N) + (line) % INNER)
#define LINES_PER_PART (LINES / PARTS)
#define LONGER_PARTS (LINES % PARTS)

#if COLLECT
KERNEL_OF(THREADS) void deal(GLOBAL REAL *restrict field, GLOBAL const REAL *restrict parts, int at)
#else
KERNEL_OF(THREADS) void deal(GLOBAL const REAL *restrict field, GLOBAL REAL *restrict parts, int at)
#endif
{
    const int64 item = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (item >= (int64)LINES * N) return;
    const int64 line = item % LINES, m = item / LINES;
    // The part, its first line and its number of lines.
    const int64 part = line < LONGER_PARTS * (LINES_PER_PART + 1)
        ? line / (LINES_PER_PART + 1)
        : (line - LONGER_PARTS) / (LINES_PER_PART > 0 ? LINES_PER_PART : 1);
    const int64 first = part * LINES_PER_PART + (part < LONGER_PARTS ? part : LONGER_PARTS);
    const int64 share = LINES_PER_PART + (part < LONGER_PARTS ? 1 : 0);
    const int64 place = first * N * FIELDS + (m * FIELDS + at) * share + line - first;
    const int64 point = START(line) + m * INNER;
#if COLLECT
    field[point] = parts[place];
#else
    parts[place] = field[point];
#endif
}
