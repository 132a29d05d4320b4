//! Ticks of plot axes.

/// Maximum number of ticks along x: more would touch each other.
pub(crate) const MAX_X_TICKS: usize = 8;

/// Scaling from values to tick labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// y / 10ᵏ.
    Power(i32),
    /// log₁₀ y.
    Logarithm,
}

impl Scale {
    /// Powers of a thousand keep the tick labels short. With a logarithmic x, a logarithmic y stays logarithmic however narrow
    /// its range: slopes are read off the two axes.
    pub(crate) fn of(
        values: impl Iterator<Item = f64> + Clone,
        logarithmic: bool,
        x_is_logarithmic: bool,
    ) -> Self {
        let (low, high) = range(values.clone().filter(|&v| v > 0.0));
        if logarithmic && (x_is_logarithmic || high > 100.0 * low) {
            return Self::Logarithm;
        }
        let largest = values.fold(0.0, |max: f64, v| max.max(v.abs()));
        if largest == 0.0 || (0.01..10_000.0).contains(&largest) {
            return Self::Power(0);
        }
        #[expect(clippy::cast_possible_truncation, reason = "a decimal exponent of an f64")]
        let thousands = (largest.log10() / 3.0).floor() as i32;
        Self::Power(3 * thousands)
    }

    /// `None` for a value without a logarithm.
    pub(crate) fn apply(self, y: f64) -> Option<f64> {
        match self {
            Self::Power(k) => Some(y / 10_f64.powi(k)),
            Self::Logarithm => (y > 0.0).then(|| y.log10()),
        }
    }

    /// The range with a margin above and below; extended to zero where values come near it; whole decades on a logarithmic axis.
    pub(crate) fn padded(self, (min, max): (f64, f64)) -> (f64, f64) {
        if self == Self::Logarithm {
            return (min.floor(), max.ceil().max(min.floor() + 1.0));
        }
        let span = max - min;
        let magnitude = min.abs().max(max.abs());
        if span <= 1e-9 * magnitude {
            let margin = if magnitude > 0.0 { 0.1 * magnitude } else { 1.0 };
            return (min - margin, max + margin);
        }
        let low = if min >= 0.0 && min < 0.4 * max { 0.0 } else { min - 0.06 * span };
        let high = if max <= 0.0 && max > 0.4 * min { 0.0 } else { max + 0.06 * span };
        (low, high)
    }

    pub(crate) fn label(self, label: &str) -> String {
        match self {
            Self::Power(0) | Self::Logarithm => label.to_string(),
            Self::Power(k) => format!("{label}  (×10{})", superscript(k)),
        }
    }

    pub(crate) fn tick(self, y: f64, span: f64) -> String {
        match self {
            Self::Power(_) => tick(y, span),
            #[expect(clippy::cast_possible_truncation, reason = "a decimal exponent")]
            Self::Logarithm if (y - y.round()).abs() < 1e-6 => {
                format!("10{}", superscript(y.round() as i32))
            }
            Self::Logarithm => String::new(),
        }
    }
}

/// A tick label: as many decimals as distinguish the ticks of an axis of this span, without trailing zeros.
pub(crate) fn tick(value: f64, span: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to 0..=12"
    )]
    let decimals = (2.0 - span.log10()).ceil().clamp(0.0, 12.0) as usize;
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_string() } else { text.replace('-', "−") }
}

/// 10 to the power of `exponent` as the label of a logarithmic axis: 20, 0.05, 10⁻⁶.
pub(crate) fn decimal(exponent: f64) -> String {
    if (-2.5..4.5).contains(&exponent) {
        return tick((10_f64.powf(exponent) * 1e4).round() / 1e4, 10_f64.powf(exponent));
    }
    let power = exponent.floor();
    let mantissa = 10_f64.powf(exponent - power).round();
    #[expect(clippy::cast_possible_truncation, reason = "a decimal exponent of an f64")]
    let power = superscript(power as i32);
    if mantissa > 1.0 { format!("{mantissa}·10{power}") } else { format!("10{power}") }
}

/// `-3` as ⁻³.
fn superscript(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]);
    number.to_string().chars().map(digit).collect()
}

/// log₁₀ of the ticks of a logarithmic axis from `x.0` to `x.1`: 1, 2 and 5 times powers of ten, or powers of ten alone where
/// that would be too many.
pub(crate) fn logarithmic_ticks(x: (f64, f64)) -> Vec<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "decimal exponents of an f64")]
    let decades = x.0.floor() as i32..=x.1.ceil() as i32;
    let ticks = |mantissas: &[f64]| -> Vec<f64> {
        let tick = |k: i32, mantissa: &f64| mantissa.log10() + f64::from(k);
        let all = decades.clone().flat_map(|k| mantissas.iter().map(move |m| tick(k, m)));
        all.filter(|tick| (x.0 - 1e-9..=x.1 + 1e-9).contains(tick)).collect()
    };
    let fine = ticks(&[1.0, 2.0, 5.0]);
    if fine.len() <= MAX_X_TICKS { fine } else { ticks(&[1.0]) }
}

/// The multiples of 1, 2 or 5 times a power of ten from `from` to `to`: as many as possible, at most `max_ticks`.
pub(crate) fn round_ticks((from, to): (f64, f64), max_ticks: usize) -> Vec<f64> {
    if to <= from {
        return vec![from];
    }
    #[expect(clippy::cast_possible_truncation, reason = "a decimal exponent of an f64")]
    let decade = (to - from).log10().floor() as i32;
    let steps = (decade - 2..=decade + 1).flat_map(|k| [1.0, 2.0, 5.0].map(|m| (m, k)));
    for (mantissa, k) in steps {
        // A fractional step divides by an integer: 0.3 is 3 / 10.
        let value = |n: f64| match k {
            0.. => n * mantissa * 10_f64.powi(k),
            _ => n * mantissa / 10_f64.powi(-k),
        };
        let (first, last) = ((from / value(1.0) - 1e-9).ceil(), (to / value(1.0) + 1e-9).floor());
        if last - first < max_ticks as f64 {
            let count = (last - first + 1.0).max(0.0);
            return (0..max_ticks)
                .map(|n| n as f64)
                .filter(|n| *n < count)
                .map(|n| value(first + n))
                .collect();
        }
    }
    vec![from]
}

/// [smallest, largest]; [∞, −∞] without values.
pub(crate) fn extremes(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let start = [f64::INFINITY, f64::NEG_INFINITY];
    values.fold(start, |[low, high], value| [low.min(value), high.max(value)])
}

/// (smallest, largest); (0, 1) without values.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let [min, max] = extremes(values);
    if min <= max { (min, max) } else { (0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short_numbers() {
        assert_eq!(tick(0.1 + 0.2, 1.0), "0.3");
        assert_eq!(tick(0.012_500_000_000_1, 0.02), "0.0125");
        assert_eq!(tick(-5.0, 20.0), "−5");
        assert_eq!(tick(100.0, 1000.0), "100");
        assert_eq!(tick(-1e-17, 1.0), "0");
        assert_eq!(superscript(-12), "⁻¹²");
        let decimals = [0.0, 0.698_97, 1.698_97, 3.0, -1.301_03, 5.0, -6.0, 6.698_97].map(decimal);
        assert_eq!(decimals, ["1", "5", "50", "1000", "0.05", "10⁵", "10⁻⁶", "5·10⁶"]);
    }

    #[test]
    fn axis_scale_is_the_power_of_1000_that_keeps_the_numbers_short() {
        let scale = |values: &[f64]| Scale::of(values.iter().copied(), false, false);
        assert_eq!(scale(&[0.0, 0.125]), Scale::Power(0));
        assert_eq!(scale(&[4e-4, -1e-3]), Scale::Power(-3));
        assert_eq!(scale(&[2.5e-17]), Scale::Power(-18));
        assert_eq!(scale(&[3e7]), Scale::Power(6));
        assert_eq!(scale(&[0.0]), Scale::Power(0));
    }

    #[test]
    fn axis_ticks_are_round_numbers_and_not_too_many() {
        let shown = |from: f64, to: f64| -> Vec<String> {
            round_ticks((from, to), 7).into_iter().map(|value| tick(value, to - from)).collect()
        };
        assert_eq!(shown(0.0, 0.6), ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]);
        assert_eq!(shown(-4.2, 0.3), ["−4", "−3", "−2", "−1", "0"]);
        assert_eq!(shown(0.0, 20.0), ["0", "5", "10", "15", "20"]);
        assert_eq!(shown(1.1e-3, 1.9e-3), ["0.0012", "0.0014", "0.0016", "0.0018"]);
        assert_eq!(round_ticks((1.0, 1.0), 7), [1.0]);
    }

    #[test]
    fn logarithmic_ticks_are_at_1_2_and_5_or_at_powers_of_ten() {
        let ticks = |from: f64, to: f64| -> Vec<String> {
            let ticks = logarithmic_ticks((from.log10(), to.log10()));
            ticks.into_iter().map(decimal).collect()
        };
        assert_eq!(ticks(1.0, 32.0), ["1", "2", "5", "10", "20"]);
        assert_eq!(ticks(0.5, 10_000.0), ["1", "10", "100", "1000", "10000"]);
    }
}
