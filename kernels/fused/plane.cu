// load_plane: loads into v a field that does not depend on z. Only one plane of it is stored, the PLANE values over x and y. Along x
// the values go through `chip`, as in `load` of tile.cu, with one barrier. When it is called, no thread may still read the field in
// `chip`.
DEVICE void load_plane(REAL *v, GLOBAL const REAL *f, ON_CHIP_PTR REAL *chip, Tile tile)
{
#if INNER == 1
    FORGET_INT(tile.thread);
    const int from = (int)((tile.line0 * N + tile.thread) % PLANE);
    const int left = points_left(tile);
    FOR_EACH_POINT(k)
    {
        if (tile.thread + k * THREADS < TX * N) chip[STAGING_INDEX(k)] = k * THREADS < left ? f[(from + k * THREADS) % PLANE] : 0;
    }
    __syncthreads();
    read_staged(v, chip, tile);
#else
    // A line along z has one value, which all its points share.
    GLOBAL const REAL *from = f + tile.start % PLANE;
    FOR_EACH_POINT(j) v[j] = HAS_POINT(j) ? from[INNER == PLANE ? 0 : j * INNER] : 0;
#endif
}
