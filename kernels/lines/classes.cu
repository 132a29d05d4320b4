// Coefficients of near-Toeplitz cyclic reduction (Srinath 2015, chapter 2; src/lines/neato.rs). Level l has CORE >> l rows. The first and
// the last ENDS rows of a level have coefficients of their own, all other rows have the same. So a level has CLASSES = 2 ENDS + 1 classes
// of rows; CLASS_OF(r, rows) is the class of row r of a level of `rows` rows.
//   FORWARD[]    [k1, k2] of the odd rows of every level and class; K(level, r, k): number k of row r
//   BACKWARD[]   [1/b, a/b, c/b] of the even rows of every level and class; BACK(level, r, k): number k of row r
//   LAST         1/b of the row that remains after LEVELS levels
#define CLASSES (2 * ENDS + 1)
#define CLASS_OF(r, rows) ((r) < ENDS ? (r) : (r) + ENDS < (rows) ? ENDS : CLASSES + (r) - (rows))
#define K(level, r, k) FORWARD[((level) * CLASSES + CLASS_OF(r, CORE >> (level))) * 2 + (k)]
#define BACK(level, r, k) BACKWARD[((level) * CLASSES + CLASS_OF(r, CORE >> (level))) * 3 + (k)]
