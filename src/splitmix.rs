//! A counter-based pseudo-random sequence: each number is computed without the previous ones. SplitMix64 (Steele, Lea and Flood 2014,
//! figure 16).

/// 2⁶⁴ over the golden ratio, odd.
pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser, with the authors' constants (variant 13 of Stafford).
pub(crate) fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Number n of the sequence from a state, counted from 1.
pub(crate) fn number(state: u64, n: u64) -> u64 {
    mixed(state.wrapping_add(n.wrapping_mul(STEP)))
}

/// The upper bits of a number as a double in [0, 1): 53 of them fill its mantissa.
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_equals_the_reference_splitmix64() {
        // The first numbers for the seed 1234567 from the reference implementation of Vigna (splitmix64.c, 2015).
        let first = [1, 2, 3].map(|n| number(1_234_567, n));
        let known =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, known);
    }
}
