//! Colours: a perceptually uniform colour map for slices.

/// Number of colours of the map; the palette of a slice has one more, [`NON_FINITE_COLOUR`], for non-finite values.
pub(crate) const COLOURS: usize = 255;

/// Grey, which the map does not contain.
const NON_FINITE_COLOUR: [u8; 3] = [128, 128, 128];

/// The colour at `s` in 0..1: from near black through violet and red to pale yellow.
///
/// A path through Oklab (B. Ottosson 2020, "A perceptual color space for image processing"): lightness grows linearly, so that
/// the map reads the same in greyscale, while the hue turns by half a circle from 285°. The chroma is a tent function within the
/// sRGB gamut.
pub(crate) fn colour(s: f64) -> [u8; 3] {
    linear_colour(s).map(encode)
}

/// The palette of a picture whose entries 0 to [`COLOURS`] - 1 represent equally spaced values from `min` to `max`: their colours
/// in a map from `low` to `high`, and [`NON_FINITE_COLOUR`].
pub(crate) fn palette([min, max]: [f64; 2], [low, high]: [f64; 2]) -> Vec<u8> {
    let entry = |k: usize| {
        let value = min + (max - min) * (k as f64 / (COLOURS - 1) as f64);
        let s = if high > low { (value - low) / (high - low) } else { 0.0 };
        colour(s.clamp(0.0, 1.0))
    };
    (0..COLOURS).flat_map(entry).chain(NON_FINITE_COLOUR).collect()
}

/// A PNG with another palette of the same length and unchanged pixels; `None` where it is not a PNG with such a palette.
pub(crate) fn with_palette(png: &[u8], palette: &[u8]) -> Option<Vec<u8>> {
    // After the signature, every chunk is its length, its name, its data and the checksum of the two.
    let mut at = 8;
    loop {
        let length = u32::from_be_bytes(png.get(at..at + 4)?.try_into().ok()?);
        let end = at + 8 + usize::try_from(length).ok()?;
        let (name, checksum) = (png.get(at + 4..at + 8)?, png.get(end..end + 4)?);
        if name != b"PLTE" {
            at = end + checksum.len();
            continue;
        }
        let mut png = png.to_vec();
        let data = png.get_mut(at + 8..end).filter(|data| data.len() == palette.len())?;
        data.copy_from_slice(palette);
        let checksum = crc32fast::hash(&png[at + 4..end]);
        png[end..end + 4].copy_from_slice(&checksum.to_be_bytes());
        return Some(png);
    }
}

fn linear_colour(s: f64) -> [f64; 3] {
    let lightness = 0.12 + 0.85 * s;
    let hue = (285.0 + 180.0 * s).to_radians();
    let chroma = (0.05 + 0.28 * s).min(0.36 - 0.28 * s);
    oklab_to_linear([lightness, chroma * hue.cos(), chroma * hue.sin()])
}

/// Linear sRGB of (L, a, b), by the two matrices of Ottosson 2020.
fn oklab_to_linear([lightness, a, b]: [f64; 3]) -> [f64; 3] {
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
    ]
}

/// The transfer function of sRGB (IEC 61966-2-1), to 8 bits.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=255")]
fn encode(linear: f64) -> u8 {
    let value =
        if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (255.0 * value).round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_map_stays_in_the_srgb_gamut() {
        for k in 0..=100 {
            let channels = linear_colour(f64::from(k) / 100.0);
            assert!(channels.iter().all(|c| (0.0..=1.0).contains(c)), "{k} %: {channels:?}");
        }
    }

    #[test]
    fn luminance_of_the_colour_map_increases_monotonically() {
        // Relative luminance (ITU-R BT.709 weights).
        let luminance = |k: u32| {
            let [r, g, b] = linear_colour(f64::from(k) / 100.0);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        assert!((0..100).all(|k| luminance(k) < luminance(k + 1)));
        assert!(luminance(0) < 0.01 && luminance(100) > 0.85);
    }
}
