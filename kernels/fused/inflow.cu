// add_inflow: adds the contribution of the neighbours to a result if lines are split across ranks: b += C z, as in
// kernels/ranks/inflow.cu, but in the registers of a fused sweep.
//   b        on entry, the result of this rank's part of the line alone; on return, with C z added    read and written
//   columns  C: INFLOW_LEFT columns of LEFT_REACH values for the first points, then INFLOW_RIGHT columns of RIGHT_REACH values
//            for the last points                                                    read
//   planes   z, the interface values, one plane of LINES values each: planes left, left + 1, ... come from the left, and planes
//            right, right + 1, ... from the right                                   read
PHASE void add_inflow(REAL *b, GLOBAL const REAL *columns, GLOBAL const REAL *restrict planes, int left, int right,
    Tile tile)
{
    const int64 line = tile.line < LINES ? tile.line : LINES - 1;
    FOR_EACH_POINT(j)
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
