//! Floating-point numbers in files.

/// The numbers of `size` bytes, 4 or 8, in `bytes`, in either byte order; an incomplete number at the end is left out.
pub(super) fn floats(bytes: &[u8], size: usize, big_endian: bool) -> Vec<f64> {
    let (single, double) = (bytes.as_chunks::<4>().0, bytes.as_chunks::<8>().0);
    match (size, big_endian) {
        (4, false) => single.iter().map(|b| f32::from_le_bytes(*b).into()).collect(),
        (4, true) => single.iter().map(|b| f32::from_be_bytes(*b).into()).collect(),
        (_, false) => double.iter().map(|b| f64::from_le_bytes(*b)).collect(),
        (_, true) => double.iter().map(|b| f64::from_be_bytes(*b)).collect(),
    }
}
