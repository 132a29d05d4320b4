// Border of a cyclic matrix: its last P unknowns x' are separated from the others (src/lines/border.rs). The open (not cyclic) matrix of
// the first CORE rows is solved for y; then
//   x' = UNKNOWNS (first P of y, last P of y, b'),   x = y - Z x'
// where b' is the right-hand side of the last P rows. UNKNOWNS[] is a P x 3 P matrix. Z is below round-off except in rows 0 .. HEAD - 1 and
// TAIL .. CORE - 1: COUPLED(m). These rows are in `tables` from BORDER_AT on, P numbers each. Open (not periodic) lines have no border:
// CORE = N.
#if PERIODIC
#define COUPLED(m) ((m) < HEAD || (m) >= TAIL)

// ADD_UNKNOWN adds unknown r of x' to `sum`. Y(m) is y[m] for m < CORE, and b'[m - CORE] from CORE on.
#define ADD_UNKNOWN(sum, r, Y) \
    for (int k = 0; k < P; ++k) { \
        sum += UNKNOWNS[((r) * 3 + 0) * P + k] * Y(k); \
        sum += UNKNOWNS[((r) * 3 + 1) * P + k] * Y(CORE - P + k); \
        sum += UNKNOWNS[((r) * 3 + 2) * P + k] * Y(CORE + k); \
    }

// (Z x')[m] for x' = (last0, last1). For P = 1 last1 is not used.
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
