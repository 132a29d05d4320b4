//! Rows of the closures, each the formula of one point near the left end for h = 1. Suffix `_AT_1`: of point 1.

/// A [`ClosureRow`](super::ClosureRow) as data.
pub(super) struct Row {
    pub(super) lhs: &'static [(isize, f64)],
    pub(super) rhs: &'static [f64],
    pub(super) order: u32,
}

pub(super) const fn row(lhs: &'static [(isize, f64)], rhs: &'static [f64], order: u32) -> Row {
    Row { lhs, rhs, order }
}

// First derivatives at point 0.
pub(super) static C3: Row = row(&[(1, 2.0)], &[-5.0 / 2.0, 2.0, 1.0 / 2.0], 3);
pub(super) static C4: Row = row(&[(1, 3.0)], &[-17.0 / 6.0, 3.0 / 2.0, 3.0 / 2.0, -1.0 / 6.0], 4);
pub(super) static C5: Row = row(&[(1, 4.0)], &[-37.0 / 12.0, 2.0 / 3.0, 3.0, -2.0 / 3.0, 1.0 / 12.0], 5);
pub(super) static C6: Row = row(&[(1, 5.0)], &[-197.0 / 60.0, -5.0 / 12.0, 5.0, -5.0 / 3.0, 5.0 / 12.0, -1.0 / 20.0], 6);
pub(super) static E2: Row = row(&[], &[-3.0 / 2.0, 2.0, -1.0 / 2.0], 2);
pub(super) static E3: Row = row(&[], &[-11.0 / 6.0, 3.0, -3.0 / 2.0, 1.0 / 3.0], 3);
pub(super) static E4: Row = row(&[], &[-25.0 / 12.0, 4.0, -3.0, 4.0 / 3.0, -1.0 / 4.0], 4);
pub(super) static E5: Row = row(&[], &[-137.0 / 60.0, 5.0, -5.0, 10.0 / 3.0, -5.0 / 4.0, 1.0 / 5.0], 5);
pub(super) static E6: Row = row(&[], &[-49.0 / 20.0, 6.0, -15.0 / 2.0, 20.0 / 3.0, -15.0 / 4.0, 6.0 / 5.0, -1.0 / 6.0], 6);

// First derivatives at point 1, then 2 and 3.
pub(super) static PADE4: Row = row(&[(-1, 1.0 / 4.0), (1, 1.0 / 4.0)], &[-3.0 / 4.0, 0.0, 3.0 / 4.0], 4);
pub(super) static C5_AT_1: Row = row(&[(-1, 3.0 / 14.0), (1, 3.0 / 14.0)], &[-19.0 / 28.0, -5.0 / 42.0, 6.0 / 7.0, -1.0 / 14.0, 1.0 / 84.0], 5);
pub(super) static C6_AT_1: Row = row(&[(-1, 2.0 / 11.0), (1, 2.0 / 11.0)], &[-20.0 / 33.0, -35.0 / 132.0, 34.0 / 33.0, -7.0 / 33.0, 2.0 / 33.0, -1.0 / 132.0], 6);
pub(super) static ASYM5: Row = row(&[(-1, 1.0 / 6.0), (1, 1.0 / 2.0)], &[-5.0 / 9.0, -1.0 / 2.0, 1.0, 1.0 / 18.0], 5);
pub(super) static ASYM6: Row = row(&[(-1, 1.0 / 8.0), (1, 3.0 / 4.0)], &[-43.0 / 96.0, -5.0 / 6.0, 9.0 / 8.0, 1.0 / 6.0, -1.0 / 96.0], 6);
pub(super) static COMPACT6_AT_2: Row = row(&[(-1, 1.0 / 3.0), (1, 1.0 / 3.0)], &[-1.0 / 36.0, -7.0 / 9.0, 0.0, 7.0 / 9.0, 1.0 / 36.0], 6);
pub(super) static SKEW3: Row = row(&[], &[-1.0 / 3.0, -1.0 / 2.0, 1.0, -1.0 / 6.0], 3);
pub(super) static CENTRAL4: Row = row(&[], &[1.0 / 12.0, -2.0 / 3.0, 0.0, 2.0 / 3.0, -1.0 / 12.0], 4);
pub(super) static CENTRAL6: Row = row(&[], &[-1.0 / 60.0, 3.0 / 20.0, -3.0 / 4.0, 0.0, 3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0], 6);

// Second derivatives at point 0, then 1, 2 and 3.
pub(super) static SECOND_C3: Row = row(&[(1, 11.0)], &[13.0, -27.0, 15.0, -1.0], 3);
pub(super) static SECOND_C4: Row = row(&[(1, 10.0)], &[145.0 / 12.0, -76.0 / 3.0, 29.0 / 2.0, -4.0 / 3.0, 1.0 / 12.0], 4);
pub(super) static SECOND_C5: Row = row(&[(1, 137.0 / 13.0)], &[1955.0 / 156.0, -4057.0 / 156.0, 1117.0 / 78.0, -55.0 / 78.0, -29.0 / 156.0, 7.0 / 156.0], 5);
pub(super) static SECOND_PADE4: Row = row(&[(-1, 1.0 / 10.0), (1, 1.0 / 10.0)], &[6.0 / 5.0, -12.0 / 5.0, 6.0 / 5.0], 4);
pub(super) static SECOND_COMPACT6_AT_2: Row = row(&[(-1, 2.0 / 11.0), (1, 2.0 / 11.0)], &[3.0 / 44.0, 12.0 / 11.0, -51.0 / 22.0, 12.0 / 11.0, 3.0 / 44.0], 6);
pub(super) static SECOND_E2: Row = row(&[], &[2.0, -5.0, 4.0, -1.0], 2);
pub(super) static SECOND_E3: Row = row(&[], &[35.0 / 12.0, -26.0 / 3.0, 19.0 / 2.0, -14.0 / 3.0, 11.0 / 12.0], 3);
pub(super) static SECOND_SKEW3: Row = row(&[], &[11.0 / 12.0, -5.0 / 3.0, 1.0 / 2.0, 1.0 / 3.0, -1.0 / 12.0], 3);
pub(super) static SECOND_CENTRAL4: Row = row(&[], &[-1.0 / 12.0, 4.0 / 3.0, -5.0 / 2.0, 4.0 / 3.0, -1.0 / 12.0], 4);
pub(super) static SECOND_CENTRAL6: Row = row(&[], &[1.0 / 90.0, -3.0 / 20.0, 3.0 / 2.0, -49.0 / 18.0, 3.0 / 2.0, -3.0 / 20.0, 1.0 / 90.0], 6);

// Free parameters of the eight-point fifth-order rows, chosen by the authors for stability with compact6: point 0, point 1.
const CGA_A0: f64 = 1809.257;
const CGA_B0: f64 = -65.1944;
const CGA_A1: f64 = -262.16;
const CGA_B1: f64 = -26.6742;

pub(super) static CGA5_AT_0: Row = row(&[], &[
    -(CGA_A0 - 28.0 * CGA_B0 + 13068.0) / 5040.0,
    (CGA_A0 - 27.0 * CGA_B0 + 5040.0) / 720.0,
    -(CGA_A0 - 26.0 * CGA_B0 + 2520.0) / 240.0,
    (CGA_A0 - 25.0 * CGA_B0 + 1680.0) / 144.0,
    -(CGA_A0 - 24.0 * CGA_B0 + 1260.0) / 144.0,
    (CGA_A0 - 23.0 * CGA_B0 + 1008.0) / 240.0,
    -(CGA_A0 - 22.0 * CGA_B0 + 840.0) / 720.0,
    (CGA_A0 - 21.0 * CGA_B0 + 720.0) / 5040.0,
], 5);
pub(super) static CGA5_AT_1: Row = row(&[], &[
    -(CGA_A1 - 21.0 * CGA_B1 + 720.0) / 5040.0,
    (CGA_A1 - 20.0 * CGA_B1 - 1044.0) / 720.0,
    -(CGA_A1 - 19.0 * CGA_B1 - 720.0) / 240.0,
    (CGA_A1 - 18.0 * CGA_B1 - 360.0) / 144.0,
    -(CGA_A1 - 17.0 * CGA_B1 - 240.0) / 144.0,
    (CGA_A1 - 16.0 * CGA_B1 - 180.0) / 240.0,
    -(CGA_A1 - 15.0 * CGA_B1 - 144.0) / 720.0,
    (CGA_A1 - 14.0 * CGA_B1 - 120.0) / 5040.0,
], 5);
