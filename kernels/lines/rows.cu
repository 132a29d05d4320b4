// The right-hand side B f of an operator, with f in device memory. The host writes above:
//   INNER_ROW(F)    the row of B f at an inner point, as an expression. F(d) is the operand d points ahead, d = -LOW .. HIGH.
//   LEFT_ROWS LEFT_WIDTH LEFT_END[]   closure at the left end: the first LEFT_ROWS rows of B, each with weights of the first LEFT_WIDTH
//                   points; no rows on a periodic line
//   RIGHT_ROWS RIGHT_WIDTH RIGHT_END[]   closure at the right end: the last RIGHT_ROWS rows of B, each with weights of the last RIGHT_WIDTH
//                   points
//   P               half-bandwidth of A
//   CORE            number of rows of the open matrix that is solved. For a cyclic A this is N - P if its last P unknowns are bordered off
//                   (border.cu, thomas.cu); otherwise it is N.

// B f at point m of the line that begins at `start`. OPERAND_AT(k) is f at point k, OPERAND_BESIDE(d) f at point m + d.
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
