use num_complex::Complex;

use super::*;

/// Name, stages, largest stable |z| on the imaginary and the negative real axis. The limits are from bisection of |R| = 1 + 1e-9
/// in 30 digits (mpmath) with Butcher matrices in 17 digits. Exact: √8 for rk4, √3 for third order in three stages.
#[rustfmt::skip]
const LIMITS: [(&str, usize, f64, f64); 13] = [
    ("rk4", 4, 2.828427, 2.785294),
    ("ssprk3", 3, 1.732051, 2.512745),
    ("ssprk43", 4, 2.156180, 5.149486),
    ("ssprk54", 5, 3.278356, 5.331473),
    ("williamson3", 3, 1.732051, 2.512745),
    ("wray3", 3, 1.732051, 2.512745),
    ("ck54", 5, 3.340718, 4.656757),
    ("kcl54", 5, 3.340718, 4.656757),
    ("kcl54-2r", 5, 3.323930, 4.816957),
    ("kcl43-2r", 4, 2.828427, 2.785294),
    ("berland64", 6, 3.815986, 4.071051),
    ("hale64", 6, 4.894764, 3.228919),
    ("bogey-bailly62", 6, 3.942837, 4.154297),
];

/// Residual of an order condition due to the published decimals.
fn residual(tableau: &Tableau) -> f64 {
    match tableau.name {
        "ssprk54" => 2e-10,
        "berland64" => 2e-12,
        "hale64" => 2e-13,
        _ => 1e-15,
    }
}

/// Residuals of the order conditions 1 to 5 (1, 1, 2, 4 and 9 conditions; Hairer, Nørsett and Wanner 1993, §II.2).
fn order_conditions(tableau: &Tableau) -> [Vec<f64>; 5] {
    let (a, b, c) = tableau.butcher();
    let mul = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).collect::<Vec<_>>();
    let apply = |x: &[f64]| a.iter().map(|row| mul(row, x).iter().sum()).collect::<Vec<f64>>();
    let weigh = |x: &[f64], exact: f64| mul(&b, x).iter().sum::<f64>() - exact;
    let one = vec![1.0; b.len()];
    let c2 = mul(&c, &c);
    let c3 = mul(&c2, &c);
    let ac = apply(&c);
    [
        vec![weigh(&one, 1.0)],
        vec![weigh(&c, 1.0 / 2.0)],
        vec![weigh(&c2, 1.0 / 3.0), weigh(&ac, 1.0 / 6.0)],
        vec![
            weigh(&c3, 1.0 / 4.0),
            weigh(&mul(&c, &ac), 1.0 / 8.0),
            weigh(&apply(&c2), 1.0 / 12.0),
            weigh(&apply(&ac), 1.0 / 24.0),
        ],
        vec![
            weigh(&mul(&c2, &c2), 1.0 / 5.0),
            weigh(&mul(&c2, &ac), 1.0 / 10.0),
            weigh(&mul(&ac, &ac), 1.0 / 20.0),
            weigh(&mul(&c, &apply(&c2)), 1.0 / 15.0),
            weigh(&mul(&c, &apply(&ac)), 1.0 / 30.0),
            weigh(&apply(&c3), 1.0 / 20.0),
            weigh(&apply(&mul(&c, &ac)), 1.0 / 40.0),
            weigh(&apply(&apply(&c2)), 1.0 / 60.0),
            weigh(&apply(&apply(&ac)), 1.0 / 120.0),
        ],
    ]
}

/// y(1) of y' = −2ty², y(0) = 1, with the exact solution 1/(1 + t²), in `steps` steps in the stored form of the tableau.
fn solve(tableau: &Tableau, steps: u32) -> f64 {
    let dt = 1.0 / f64::from(steps);
    let c = tableau.nodes();
    let mut y = 1.0;
    for step in 0..steps {
        let rate = |s: usize, y: f64| -2.0 * (f64::from(step) + c[s]) * dt * y * y;
        match tableau.form {
            Form::LowStorage { a, b } => {
                let mut g = 0.0;
                for s in 0..tableau.stages() {
                    g = a[s] * g + dt * rate(s, y);
                    y += b[s] * g;
                }
            }
            Form::Butcher { a, b } => {
                let mut k = vec![];
                for (s, row) in a.iter().enumerate() {
                    k.push(dt * rate(s, y + row.iter().zip(&k).map(|(a, k)| a * k).sum::<f64>()));
                }
                y += b.iter().zip(&k).map(|(b, k)| b * k).sum::<f64>();
            }
        }
    }
    y
}

#[test]
fn tableaux_satisfy_the_order_conditions_up_to_their_order_only() {
    for tableau in TABLEAUX {
        let conditions = order_conditions(tableau);
        let (met, unmet) = conditions.split_at(tableau.order as usize);
        for residual in met.iter().flatten() {
            assert_near(*residual, 0.0, super::runge_kutta::residual(tableau), tableau.name);
        }
        let next = unmet[0].iter().fold(0.0, |m: f64, r| m.max(r.abs()));
        assert!(
            next > 1e-3,
            "{}: conditions of order {} satisfied to {next:e}",
            tableau.name,
            tableau.order + 1
        );
    }
}

#[test]
fn tableaux_converge_at_their_order_on_a_nonlinear_equation() {
    for tableau in TABLEAUX {
        let [coarse, fine] = [40, 80].map(|steps| (solve(tableau, steps) - 0.5).abs());
        let slope = (coarse / fine).log2();
        assert!((slope - f64::from(tableau.order)).abs() < 0.25, "{}: slope {slope}", tableau.name);
        let bound = if tableau.order == 4 { 2e-7 } else { 1e-4 };
        assert!(coarse < bound, "{}: error {coarse:e}", tableau.name);
    }
}

#[test]
fn stability_limits_match_30_digit_references() {
    assert_eq!(TABLEAUX.map(|tableau| tableau.name), LIMITS.map(|row| row.0));
    for (name, stages, imaginary, real) in LIMITS {
        let tableau = tableau(name).unwrap();
        assert_eq!(tableau.stages(), stages);
        assert_near(tableau.imaginary_limit(), imaginary, 6e-7, name);
        assert_near(tableau.negative_real_limit(), real, 6e-7, name);
    }
    assert_eq!(tableau("rk5"), None);
}

#[test]
fn hale64_has_the_largest_convective_step_per_stage() {
    let per_stage = |tableau: &Tableau| tableau.imaginary_limit() / tableau.stages() as f64;
    for tableau in TABLEAUX {
        assert!(
            tableau.name == "hale64" || per_stage(tableau) < 0.9 * per_stage(&HALE64),
            "{}",
            tableau.name
        );
    }
}

#[test]
fn combined_convective_diffusive_steps_are_stable_at_80_percent_of_limits() {
    for tableau in TABLEAUX {
        let (imaginary, real) =
            (0.8 * tableau.imaginary_limit(), 0.8 * tableau.negative_real_limit());
        for i in 0..=60 {
            for j in 0..=60 - i {
                // Convection uses i/60 of the step limit, diffusion j/60.
                let z = Complex::new(-real * f64::from(j) / 60.0, imaginary * f64::from(i) / 60.0);
                let growth = tableau.amplification(z).norm() - 1.0;
                assert!(growth <= 1e-9, "{} grows by {growth:e} at {z}", tableau.name);
                assert_eq!(tableau.amplification(z.conj()).norm(), tableau.amplification(z).norm());
            }
        }
    }
}

#[test]
fn stability_polynomials_match_exp_and_the_published_high_order_terms() {
    for tableau in TABLEAUX {
        let gamma = tableau.stability_polynomial();
        assert_eq!(gamma.len(), tableau.stages() + 1);
        for (k, gamma) in (0..=tableau.order).zip(&gamma) {
            assert_near(*gamma, 1.0 / factorial(k), residual(tableau), tableau.name);
        }
    }
    let ends = |tableau: &Tableau| tableau.stability_polynomial().split_off(3);
    for (found, published) in ends(&BOGEY_BAILLY62).iter().zip([
        0.165919771368,
        0.040919732041,
        0.007555704391,
        0.000891421261,
    ]) {
        assert_near(*found, published, 1e-15, "bogey-bailly62");
    }
    assert_near(
        CK54.stability_polynomial()[5],
        1.0 / 200.0,
        1e-15,
        "ck54 is designed for γ₅ = 1/200",
    );
    assert_near(
        KCL43_2R.stability_polynomial()[4],
        1.0 / 24.0,
        1e-15,
        "kcl43-2r is fourth order on linear problems",
    );
}

#[test]
fn amplification_matches_one_step_of_a_linear_equation() {
    // One 2N or Butcher step of dy/dt = λy with real λ, from the definition R = 1 + z bᵀ(1 − zA)⁻¹ 1.
    let z = -0.7;
    for tableau in TABLEAUX {
        let (a, b, _) = tableau.butcher();
        let mut stages: Vec<f64> = vec![];
        for row in &a {
            stages.push(1.0 + z * row.iter().zip(&stages).map(|(a, y)| a * y).sum::<f64>());
        }
        let direct = 1.0 + z * b.iter().zip(&stages).map(|(b, y)| b * y).sum::<f64>();
        let amplification = tableau.amplification(Complex::new(z, 0.0));
        assert_near(amplification.re, direct, 1e-15, tableau.name);
        assert_eq!(amplification.im, 0.0);
    }
}
