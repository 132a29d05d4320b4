// The coefficients of near-Toeplitz cyclic reduction (Srinath 2015, chapter 2; src/lines/neato.rs): a level has CORE >>
// level rows; ENDS at either end are special, the others are alike. FORWARD[] holds [k1, k2] of the odd rows, BACKWARD[]
// [1/b, a/b, c/b] of the even ones, by level and class; LAST is 1/b of the row that is left after LEVELS levels.
#define CLASSES (2 * ENDS + 1)
#define CLASS_OF(r, rows) ((r) < ENDS ? (r) : (r) + ENDS < (rows) ? ENDS : CLASSES + (r) - (rows))
#define K(level, r, k) FORWARD[((level) * CLASSES + CLASS_OF(r, CORE >> (level))) * 2 + (k)]
#define BACK(level, r, k) BACKWARD[((level) * CLASSES + CLASS_OF(r, CORE >> (level))) * 3 + (k)]
