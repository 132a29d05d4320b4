// Lines cut into CHUNKS chunks, a thread a chunk, TX lines a block of THREADS threads: the first LONG have LENGTH points,
// the others one less. The thread of the chunk `by` on (or back, at most CHUNKS) on the same line, round its end:
// NEIGHBOUR.
#if INNER == 1
#define THREAD_OF(lane, chunk) ((lane) * CHUNKS + (chunk))
#define LANE_OF(thread) ((thread) / CHUNKS)
#define CHUNK_OF(thread) ((thread) % CHUNKS)
#define NEIGHBOUR(thread, chunk, by) \
    ((thread) - (chunk) + (int)((unsigned int)((chunk) + CHUNKS + (by)) % (unsigned int)CHUNKS))
#else
#define THREAD_OF(lane, chunk) ((chunk) * TX + (lane))
#define LANE_OF(thread) ((thread) % TX)
#define CHUNK_OF(thread) ((thread) / TX)
#define NEIGHBOUR(thread, chunk, by) \
    ((int)((unsigned int)((thread) + THREADS + (by) * TX) % (unsigned int)THREADS))
#endif
#define FIRST(chunk) ((chunk) * (LENGTH - 1) + ((chunk) < LONG ? (chunk) : LONG))
#define POINTS(chunk) (LONG == CHUNKS || (chunk) < LONG ? LENGTH : LENGTH - 1)
