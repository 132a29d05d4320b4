// The right-hand side B f of an operator, from device memory. The host writes above:
//   INNER_ROW(F)    row of B at an inner point, F(d) the operand d points on; it reads d = -LOW .. HIGH
//   LEFT_ROWS LEFT_WIDTH LEFT_END[]   rows of B at points 0, 1, ... of a line with ends, read from point 0 on
//   RIGHT_ROWS RIGHT_WIDTH RIGHT_END[]   rows of B at the last points, read up to the last point
//   CORE P          rows of the open matrix that is solved, and its half-bandwidth: a cyclic one has its last P unknowns
//                   bordered off, CORE = N - P (border.cu)

// B f at point m of the line that begins at `start`, f from device memory.
DEVICE REAL right_hand_side(GLOBAL const REAL *restrict f, int64 start, int m)
{
#define OPERAND_AT(k) f[start + (int64)(k) * INNER]
#define OPERAND_BESIDE(d) OPERAND_AT(on_line(m + (d)))
#if LEFT_ROWS + RIGHT_ROWS > 0
    if (m < LEFT_ROWS) {
        REAL sum = 0;
        ADD_LEFT_END(sum, m, OPERAND_AT);
        return sum;
    }
    if (m >= N - RIGHT_ROWS) {
        REAL sum = 0;
        ADD_RIGHT_END(sum, m - (N - RIGHT_ROWS), OPERAND_AT);
        return sum;
    }
#endif
    return INNER_ROW(OPERAND_BESIDE);
#undef OPERAND_BESIDE
#undef OPERAND_AT
}
