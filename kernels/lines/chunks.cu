// Lines split into CHUNKS chunks, one thread per chunk. A block has TX lines (lanes): THREADS = CHUNKS * TX. The first LONG_CHUNKS chunks
// of a line have LENGTH points, the others one less.
//   THREAD_OF(lane, chunk)   the thread of a chunk; LANE_OF(thread), CHUNK_OF(thread): its inverse. Along x neighbouring threads have
//               neighbouring chunks of one line, along y and z the same chunk of neighbouring lines.
//   NEIGHBOUR(thread, chunk, by)   the thread of the chunk `by` chunks further on the same line, periodically; -CHUNKS <= by <= CHUNKS
//   FIRST(chunk), POINTS(chunk)    the first point and the number of points of a chunk
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
#define FIRST(chunk) ((chunk) * (LENGTH - 1) + ((chunk) < LONG_CHUNKS ? (chunk) : LONG_CHUNKS))
#define POINTS(chunk) (LONG_CHUNKS == CHUNKS || (chunk) < LONG_CHUNKS ? LENGTH : LENGTH - 1)
