// v from the PLANE values of a plane of x and y, which are those at every z; along x through `chip` as in tile.cu.
DEVICE void load_plane(REAL *v, GLOBAL const REAL *f, ON_CHIP_PTR REAL *chip, Tile tile)
{
#if INNER == 1
    FORGET_INT(tile.thread);
    const int from = (int)((tile.line0 * N + tile.thread) % PLANE);
    const int left = points_left(tile);
    EACH(k)
    {
        if (tile.thread + k * THREADS < TX * N) chip[PLACE(k)] = k * THREADS < left ? f[(from + k * THREADS) % PLANE] : 0;
    }
    __syncthreads();
    take_staged(v, chip, tile);
#else
    // The lines along z have one value each.
    GLOBAL const REAL *from = f + tile.start % PLANE;
    EACH(j) v[j] = HAS(j) ? from[INNER == PLANE ? 0 : j * INNER] : 0;
#endif
}
