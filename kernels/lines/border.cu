// A cyclic matrix with its last P unknowns bordered off (src/lines/border.rs): y solves the open core, then
//   x' = UNKNOWNS (first P of y, last P of y, b'),   x = y - Z x'
// where Z matters in the first HEAD rows and from row TAIL on; its rows stand in `tables` from BORDER_AT on, P numbers
// each. Lines with ends have no border: CORE = N.
#if PERIODIC
#define COUPLED(m) ((m) < HEAD || (m) >= TAIL)

// Adds to `sum` the border unknown r; Y(m) is y, or b' from row CORE on.
#define ADD_UNKNOWN(sum, r, Y) \
    for (int k = 0; k < P; ++k) { \
        sum += UNKNOWNS[((r) * 3 + 0) * P + k] * Y(k); \
        sum += UNKNOWNS[((r) * 3 + 1) * P + k] * Y(CORE - P + k); \
        sum += UNKNOWNS[((r) * 3 + 2) * P + k] * Y(CORE + k); \
    }

// (Z x')[m], with x' given as two numbers (P = 1: the second is not used).
DEVICE REAL border_correction(GLOBAL const REAL *restrict tables, int m, REAL last0, REAL last1)
{
    if (!COUPLED(m)) return 0;
    GLOBAL const REAL *restrict z = tables + BORDER_AT + P * (m < HEAD ? m : m - TAIL + HEAD);
#if P > 1
    return z[0] * last0 + z[1] * last1;
#else
    return z[0] * last0;
#endif
}
#endif
