use std::collections::HashSet;
use std::f64::consts::{FRAC_PI_2, PI};

use super::*;

const SYMBOLS: &str = include_str!("../data/scheme/modified_wavenumber.csv");
const RESOLUTION: &str = include_str!("../data/scheme/resolution.csv");

/// The power of w in the exact symbol.
fn exact_power(scheme: &Scheme) -> u32 {
    match scheme.kind {
        Kind::FirstDerivative | Kind::MidpointDerivative => 1,
        Kind::SecondDerivative => 2,
        Kind::MidpointInterpolation | Kind::Filter => 0,
    }
}

/// Coefficient of wᵖ of (1 + 2α cos w + 2β cos 2w) (symbol − exact symbol), p = 2m + parity, from the Taylor series of sine
/// and cosine, and the largest term of the sum. The coefficient vanishes for every p below the power of the leading error.
fn moment(scheme: &Scheme, p: u32) -> (f64, f64) {
    let half = if matches!(scheme.kind, Kind::MidpointDerivative | Kind::MidpointInterpolation) {
        0.5
    } else {
        0.0
    };
    let exact = exact_power(scheme);
    assert_eq!(p % 2, exact % 2, "odd derivatives have odd symbols");
    let power = |s: f64, p: u32| s.powi(p as i32);
    let sign = |m: u32| if m.is_multiple_of(2) { 1.0 } else { -1.0 };
    let mut terms: Vec<f64> = (1u32..)
        .zip(scheme.rhs)
        .map(|(s, a)| (f64::from(s) - half, a))
        .map(|(s, a)| match scheme.kind {
            Kind::FirstDerivative | Kind::MidpointDerivative => {
                a * sign(p / 2) * power(s, p - 1) / factorial(p)
            }
            Kind::SecondDerivative if p == 0 => 0.0,
            Kind::SecondDerivative => -2.0 * a * sign(p / 2) * power(s, p - 2) / factorial(p),
            Kind::MidpointInterpolation | Kind::Filter => {
                a * sign(p / 2) * power(s, p) / factorial(p)
            }
        })
        .collect();
    // Left-hand side times w, w² or 1.
    if p >= exact {
        let q = p - exact;
        let cosines = 2.0 * scheme.alpha + 2.0 * scheme.beta * power(2.0, q);
        terms.push(-sign(q / 2) * cosines / factorial(q));
        terms.push(if q == 0 { scheme.center - 1.0 } else { 0.0 });
    }
    (terms.iter().sum(), terms.iter().fold(0.0, |m: f64, t| m.max(t.abs())))
}

#[test]
fn symbols_match_40_digit_references() {
    let mut lines = SYMBOLS.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<_> = lines.next().unwrap().split(',').skip(1).collect();
    assert_eq!(names.len(), schemes().count());
    for line in rows(SYMBOLS) {
        let w = number(line[0]) * PI / 16.0;
        for (scheme, value) in names.iter().map(|name| scheme(name)).zip(&line[1..]) {
            // Round-off of a dozen terms of size 1, divided by a left-hand side that falls to 0.025 (spectral-like at π).
            let tolerance = 4.0 * f64::EPSILON * (1.0 + 1.0 / scheme.left_symbol(w));
            assert_near(
                scheme.symbol(w),
                number(value),
                tolerance,
                &format!("{} at {w}", scheme.name),
            );
        }
    }
}

#[test]
fn coefficients_satisfy_the_order_conditions_and_the_stated_leading_error() {
    for scheme in schemes().chain([&CF90]) {
        let Some(lead) = scheme.lead else { continue };
        let exact = exact_power(scheme);
        assert_eq!(lead.power.cast_unsigned(), scheme.order + exact, "{}", scheme.name);
        for p in (0..lead.power.cast_unsigned()).filter(|p| p % 2 == exact % 2) {
            let (sum, largest) = moment(scheme, p);
            assert_near(
                sum,
                0.0,
                8.0 * f64::EPSILON * largest,
                &format!("{}, order {p}", scheme.name),
            );
        }
        let (sum, largest) = moment(scheme, lead.power.cast_unsigned());
        let left = scheme.left_symbol(0.0);
        let tolerance = 8.0 * f64::EPSILON * largest / left;
        assert_near(sum / left, lead.coefficient, tolerance, scheme.name);
        assert!(
            lead.coefficient.abs() > 100.0 * tolerance,
            "{}: order {} cannot be resolved",
            scheme.name,
            scheme.order
        );
    }
}

#[test]
fn symbols_deviate_from_the_exact_ones_by_the_leading_error() {
    for scheme in schemes() {
        let Some(lead) = scheme.lead else { continue };
        let exact = |w: f64| w.powi(exact_power(scheme).cast_signed());
        let ratio = |w: f64| (scheme.symbol(w) - exact(w)) / w.powi(lead.power);
        // Extrapolation in w² leaves an error of order w⁴, about 1 %.
        let coefficient = (4.0 * ratio(0.2) - ratio(0.4)) / 3.0;
        assert_near(coefficient / lead.coefficient, 1.0, 0.01, scheme.name);
    }
}

#[test]
fn published_decimals_satisfy_the_order_conditions_to_their_last_digit() {
    // The residuals are from half a unit in the last of seven decimals, in each of a few coefficients.
    for (scheme, first) in [
        (&scheme_family("spectral-like").first, 1),
        (&scheme_family("spectral-like").second, 2),
        (&LELE_CUTOFF, 0),
    ] {
        assert_eq!(scheme.lead, None);
        for p in [first, first + 2] {
            let residual = moment(scheme, p).0.abs();
            assert!((1e-10..5e-7).contains(&residual), "{}: {residual:e}", scheme.name);
        }
    }
    assert!(
        moment(&scheme_family("spectral-like").first, 5).0.abs() > 5e-6,
        "spectral-like is fourth order only"
    );
}

#[test]
fn efficiencies_and_largest_symbols_match_25_digit_bisection() {
    let table: Vec<_> = rows(RESOLUTION).collect();
    assert_eq!(table.len(), schemes().count());
    for (scheme, row) in table.iter().map(|row| (scheme(row[0]), row)) {
        for (eps, value) in [0.1, 0.01, 0.001].into_iter().zip(&row[1..4]) {
            assert_near(scheme.resolving_efficiency(eps), number(value), 1e-9, scheme.name);
        }
        let (max, w) = scheme.max_symbol();
        assert_near(max, number(row[4]), 3e-14, scheme.name);
        assert_near(w, number(row[5]), 1e-7, scheme.name); // a maximum is flat: its position has half the digits
    }
}

#[test]
fn largest_symbols_match_their_closed_forms() {
    assert_near(scheme_family("explicit2").first.max_symbol().0, 1.0, 1e-15, "sin w at π/2");
    assert_near(scheme_family("explicit2").first.max_symbol().1, FRAC_PI_2, 1e-7, "sin w at π/2");
    assert_near(
        scheme_family("compact4").first.max_symbol().0,
        3f64.sqrt(),
        1e-15,
        "3 sin w / (2 + cos w) at 2π/3",
    );
    assert_near(
        scheme_family("compact4").second.max_symbol().0,
        6.0,
        2e-15,
        "4.8 sin²(w/2) / (1 + 0.2 cos w) at π",
    );
    assert_eq!(scheme_family("compact6").midpoint_interpolation.max_symbol(), (1.0, 0.0));
}

#[test]
fn resolving_efficiency_increases_from_explicit2_to_compact10_penta() {
    let efficiencies = [
        scheme_family("explicit2").first,
        scheme_family("explicit4").first,
        scheme_family("explicit6").first,
        scheme_family("compact4").first,
        scheme_family("compact6").first,
        scheme_family("compact8").first,
        scheme_family("compact8-penta").first,
        scheme_family("compact10-penta").first,
    ]
    .map(|scheme| scheme.resolving_efficiency(0.01));
    assert!(efficiencies.is_sorted(), "{efficiencies:?}");
    assert_eq!(
        scheme_family("compact6").first.resolving_efficiency(2.0),
        1.0,
        "an error of 200 % is never exceeded"
    );
}

#[test]
fn left_hand_side_symbols_are_positive_for_every_wavenumber() {
    for scheme in schemes().chain([&CF90, &LELE_CUTOFF]) {
        let smallest =
            (0..=64).map(|i| scheme.left_symbol(f64::from(i) * PI / 64.0)).fold(1.0, f64::min);
        assert!(smallest > 1e-3, "{}: {smallest}", scheme.name);
    }
}

#[test]
fn transfer_is_one_at_zero_and_modified_wavenumbers_match_the_scheme_kind() {
    for scheme in schemes() {
        assert_near(scheme.transfer(0.0), 1.0, 1e-7, scheme.name); // 2e-8 from the decimals of spectral-like
        match scheme.kind {
            Kind::MidpointInterpolation => assert_eq!(scheme.modified_wavenumber(1.0), None),
            _ => {
                let relative = scheme.modified_wavenumber(0.3).unwrap() / 0.3 - 1.0;
                assert!(relative.abs() < 0.016, "{}: {relative}", scheme.name);
            }
        }
    }
}

#[test]
fn family_schemes_have_one_order_except_for_known_staggered_schemes() {
    let names =
        ["explicit2", "explicit4", "explicit6", "explicit8", "compact4", "compact6", "compact8"]
            .into_iter()
            .chain(["compact8-penta", "compact10-penta", "spectral-like"]);
    assert_eq!(families().iter().map(|f| f.name).collect::<Vec<_>>(), names.collect::<Vec<_>>());
    for family in families() {
        assert_eq!(super::family(family.name), Some(family));
        let SchemeFamily { first, second, midpoint_derivative, midpoint_interpolation, .. } =
            family;
        assert_eq!(first.kind, Kind::FirstDerivative);
        assert_eq!((second.kind, second.order), (Kind::SecondDerivative, first.order));
        let staggered = match family.name {
            "explicit8" => 6,
            "spectral-like" => 10,
            _ => first.order,
        };
        assert_eq!(
            (midpoint_derivative.kind, midpoint_derivative.order),
            (Kind::MidpointDerivative, staggered)
        );
        let interpolation = midpoint_interpolation;
        assert_eq!(
            (interpolation.kind, interpolation.order),
            (Kind::MidpointInterpolation, staggered)
        );
    }
    assert_eq!(super::family("compact7"), None);
}

#[test]
fn scheme_names_are_unique_and_every_scheme_has_a_source() {
    let names: HashSet<_> = schemes().map(|scheme| scheme.name).collect();
    assert_eq!(names.len(), 37);
    assert!(schemes().all(|scheme| !scheme.source.is_empty()));
}
