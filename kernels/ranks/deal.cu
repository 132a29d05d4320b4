// deal: lines of a block dealt out to PARTS ranks, or collected from them (COLLECT): the part with lines l0 to l1 begins at
// l0 * N * FIELDS and holds [point][field][line].
//   field    N points a line, neighbours INNER apart                                 read, or written
//   parts    the shares of all ranks                                                  written, or read
//   at       which of the FIELDS fields that travel together
//   traffic: one field once, and the same in `parts` once
//   no on-chip memory, no barrier
#define START(line) ((line) / INNER * ((int64)INNER * N) + (line) % INNER)
#define EACH (LINES / PARTS)
#define MORE (LINES % PARTS)

#if COLLECT
KERNEL_OF(THREADS) void deal(GLOBAL REAL *restrict field, GLOBAL const REAL *restrict parts, int at)
#else
KERNEL_OF(THREADS) void deal(GLOBAL const REAL *restrict field, GLOBAL REAL *restrict parts, int at)
#endif
{
    const int64 item = (int64)blockIdx.x * THREADS + threadIdx.x;
    if (item >= (int64)LINES * N) return;
    const int64 line = item % LINES, m = item / LINES;
    // The first MORE parts have one line more.
    const int64 part = line < MORE * (EACH + 1) ? line / (EACH + 1) : (line - MORE) / (EACH > 0 ? EACH : 1);
    const int64 first = part * EACH + (part < MORE ? part : MORE);
    const int64 share = EACH + (part < MORE ? 1 : 0);
    const int64 place = first * N * FIELDS + (m * FIELDS + at) * share + line - first;
    const int64 point = START(line) + m * INNER;
#if COLLECT
    field[point] = parts[place];
#else
    parts[place] = field[point];
#endif
}
