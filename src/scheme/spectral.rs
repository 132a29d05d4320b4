//! Action of a formula on a wave exp(ikx) on a uniform periodic line, as a function of w = kh in [0, π].

use std::f64::consts::PI;

use super::{Kind, Scheme};

/// Intervals of [0, π] for the search of extrema and thresholds before refinement.
const SCAN: u32 = 4096;

/// Differences of two symbols below this are noise.
const ROUND_OFF: f64 = 1e-14;

impl Scheme {
    /// The real factor by which the formula multiplies a wave, for h = 1: k' of a first or midpoint derivative (times
    /// i), k'' > 0 of a second derivative (times −1), T of an interpolation or a filter (Lele 1992, §3).
    pub fn symbol(&self, w: f64) -> f64 {
        let half = match self.kind {
            Kind::MidpointDerivative | Kind::MidpointInterpolation => 0.5,
            _ => 0.0,
        };
        let terms = self.rhs.iter().zip(1u32..).map(|(a, s)| {
            let s = f64::from(s) - half;
            match self.kind {
                Kind::FirstDerivative | Kind::MidpointDerivative => a * (s * w).sin() / s,
                // 2 (1 − cos sw) = 4 sin²(sw/2), which avoids cancellation as w goes to 0.
                Kind::SecondDerivative => a * ((0.5 * s * w).sin() / (0.5 * s)).powi(2),
                Kind::MidpointInterpolation | Kind::Filter => a * (s * w).cos(),
            }
        });
        (self.center + terms.sum::<f64>()) / self.left_symbol(w)
    }

    /// Factor of the left-hand side, 1 + 2α cos w + 2β cos 2w. It is positive for every formula here.
    pub fn left_symbol(&self, w: f64) -> f64 {
        1.0 + 2.0 * self.alpha * w.cos() + 2.0 * self.beta * (2.0 * w).cos()
    }

    /// The modified wavenumber (times h) of a derivative: k', or √k'' of a second derivative. `None` for formulas that
    /// do not differentiate.
    pub fn modified_wavenumber(&self, w: f64) -> Option<f64> {
        match self.kind {
            Kind::FirstDerivative | Kind::MidpointDerivative => Some(self.symbol(w)),
            Kind::SecondDerivative => Some(self.symbol(w).sqrt()),
            Kind::MidpointInterpolation | Kind::Filter => None,
        }
    }

    /// Transfer function: the symbol divided by the exact one (w, w² or 1); 1 where the formula is exact.
    pub fn transfer(&self, w: f64) -> f64 {
        let w = w.max(f64::EPSILON); // at 0 the limit
        match self.kind {
            Kind::FirstDerivative | Kind::MidpointDerivative => self.symbol(w) / w,
            Kind::SecondDerivative => self.symbol(w) / (w * w),
            Kind::MidpointInterpolation | Kind::Filter => self.symbol(w),
        }
    }

    /// Fraction of [0, π] from 0 on over which the relative error of the symbol stays within `eps` (Lele 1992, §3.1).
    pub fn resolving_efficiency(&self, eps: f64) -> f64 {
        let resolved = |w: f64| (self.transfer(w) - 1.0).abs() <= eps;
        largest_within(&resolved, PI / f64::from(SCAN), PI) / PI
    }

    /// Largest symbol on [0, π] and its location: it limits the time step of an explicit integrator.
    pub fn max_symbol(&self) -> (f64, f64) {
        let step = PI / f64::from(SCAN);
        let (mut max, mut at) = (self.symbol(0.0), 0);
        for i in 1..=SCAN {
            let here = self.symbol(PI * f64::from(i) / f64::from(SCAN));
            if here > max + ROUND_OFF {
                (max, at) = (here, i);
            }
        }
        if at == 0 || at == SCAN {
            return (max, PI * f64::from(at / SCAN));
        }
        // One maximum between the neighbours: each iteration drops a third of the interval.
        let (mut low, mut high) = (f64::from(at - 1) * step, f64::from(at + 1) * step);
        while high - low > 1e-8 {
            let third = (high - low) / 3.0;
            if self.symbol(low + third) < self.symbol(high - third) {
                low += third;
            } else {
                high -= third;
            }
        }
        let w = 0.5 * (low + high);
        (self.symbol(w), w)
    }
}

/// Largest x up to `end` such that `holds` on the steps that lead to it, refined by bisection to round-off.
pub(super) fn largest_within(holds: &impl Fn(f64) -> bool, step: f64, end: f64) -> f64 {
    let mut good = 0.0;
    while good < end {
        let mut bad = (good + step).min(end);
        if holds(bad) {
            good = bad;
            continue;
        }
        while bad - good > f64::EPSILON * bad {
            let middle = 0.5 * (good + bad);
            if middle == good || middle == bad {
                break;
            }
            *(if holds(middle) { &mut good } else { &mut bad }) = middle;
        }
        break;
    }
    good
}
