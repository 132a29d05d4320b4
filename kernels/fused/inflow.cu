// add_inflow: what comes in from the neighbours of a block of a longer line is added to a result, b += C z, as inflow.cu does.
//   b        result of the block alone                                             read and written
//   columns  INFLOW_LEFT columns of LEFT_REACH values for the first points, then INFLOW_RIGHT of RIGHT_REACH for the last
//   planes   z: plane `left` and on from the left, `right` and on from the right   read
PHASE void add_inflow(REAL *b, GLOBAL const REAL *columns, GLOBAL const REAL *restrict planes, int left, int right,
    Tile tile)
{
    const int64 line = tile.line < LINES ? tile.line : LINES - 1;
    EACH(j)
    {
        const int m = tile.first + j, back = m - (N - RIGHT_REACH);
        if (m < LEFT_REACH) {
            for (int c = 0; c < INFLOW_LEFT; ++c)
                b[j] += columns[c * LEFT_REACH + m] * planes[(int64)(left + c) * LINES + line];
        }
        if (back >= 0 && m < N) {
            for (int c = 0; c < INFLOW_RIGHT; ++c)
                b[j] += columns[INFLOW_LEFT * LEFT_REACH + c * RIGHT_REACH + back]
                    * planes[(int64)(right + c) * LINES + line];
        }
    }
}
