//! Means, variances and stresses: instantaneous and averaged over time.

use std::f64::consts::TAU;

use kolmo::comm::Solo;
use kolmo::statistics::moments::{self, Moments, moments};
use kolmo::statistics::{Flow, Running, Sample};

use super::{cube, field, gas, random_flow};
use crate::common::{assert_close, float};

const POINTS: [usize; 3] = [16, 3, 1];

/// A flow whose variables are functions of x.
fn flow(of: impl Fn(f64) -> [f64; 6]) -> Sample {
    let [density, pressure, temperature, u, v, w] =
        [0, 1, 2, 3, 4, 5].map(|q| field(POINTS, |[i, ..]| of(TAU * float(i) / 16.0)[q]));
    let velocity = [u, v, w];
    Sample::Flow(Box::new(Flow {
        density,
        pressure,
        temperature,
        velocity,
        scalars: Vec::new(),
        gradient: None,
        viscosity: 0.0,
        gas: gas(10.0),
        walls: None,
    }))
}

fn moments_of(sample: &Sample) -> Moments {
    moments(&Solo, &cube(POINTS), sample)
}

fn named(values: &[f64], name: &str) -> f64 {
    values[moments::FLOW.iter().position(|known| *known == name).unwrap()]
}

#[test]
fn moments_of_waves_match_their_exact_integrals() {
    let a = 0.4;
    let values = moments_of(&flow(|x| {
        let density = 1.0 + a * x.cos();
        [density, 5.0 + (3.0 * x).sin(), 2.0, 0.5 + x.cos(), x.sin(), x.cos() - x.sin()]
    }))
    .values();
    // ⟨cos²⟩ = ½, ⟨cos³⟩ = ⟨sin² cos⟩ = 0.
    for (name, expected) in [
        ("density", 1.0),
        ("pressure", 5.0),
        ("temperature", 2.0),
        ("velocity_x", 0.5),
        ("velocity_y", 0.0),
        ("velocity_z", 0.0),
        ("density_variance", a * a / 2.0),
        ("pressure_variance", 0.5),
        ("temperature_variance", 0.0),
        ("reynolds_stress_xx", 0.5),
        ("reynolds_stress_yy", 0.5),
        ("reynolds_stress_zz", 1.0),
        ("reynolds_stress_xy", 0.0),
        ("reynolds_stress_xz", 0.5),
        ("reynolds_stress_yz", -0.5),
        ("favre_velocity_x", 0.5 + a / 2.0),
        ("favre_velocity_y", 0.0),
        ("favre_velocity_z", a / 2.0),
        ("favre_stress_xx", 0.5 - a * a / 4.0),
        ("favre_stress_yy", 0.5),
        ("favre_stress_zz", 1.0 - a * a / 4.0),
        ("favre_stress_xy", 0.0),
        ("favre_stress_xz", 0.5 - a * a / 4.0),
        ("favre_stress_yz", -0.5),
    ] {
        let found = named(&values, name);
        assert!((found - expected).abs() < 2e-15, "{name}: {found} {expected}");
    }
}

#[test]
fn time_averages_use_the_trapezoidal_rule_over_uneven_steps() {
    // ρ = 1 + t, u = t + cos x: the mean of u is linear in t, its square is not.
    let mut running = Running::default();
    assert_eq!(running.values(), None);
    let times = [0.0, 1.0, 3.0, 3.5];
    for time in times {
        let sample = flow(|x| [1.0 + time, 7.0, 1.0, time + x.cos(), x.sin(), 0.0]);
        running.add(time, &moments_of(&sample));
        if time == 0.0 {
            assert_eq!(running.values().unwrap(), moments_of(&sample).values());
        }
    }
    assert_eq!(running.duration(), 3.5);
    let weights = [0.5, 1.5, 1.25, 0.25].map(|weight| weight / 3.5);
    let average = |value: &dyn Fn(f64) -> f64| -> f64 {
        times.iter().zip(weights).map(|(&time, weight)| weight * value(time)).sum()
    };
    let values = running.values().unwrap();
    let mean = average(&|t| t);
    assert!((mean - 1.75).abs() < 1e-15, "linear: exact");
    assert_close(named(&values, "velocity_x"), mean, 1e-14, "velocity_x");
    assert_close(named(&values, "density"), 1.0 + mean, 1e-14, "density");
    let variance = average(&|t| (t - mean).powi(2));
    assert_close(named(&values, "density_variance"), variance, 1e-14, "density_variance");
    assert_close(named(&values, "reynolds_stress_xx"), 0.5 + variance, 1e-14, "stress xx");
    assert_close(named(&values, "reynolds_stress_yy"), 0.5, 1e-14, "stress yy");
    // {u} = Σ w ρ u / Σ w ρ.
    let mass = average(&|t| 1.0 + t);
    let favre = average(&|t| (1.0 + t) * t) / mass;
    assert_close(named(&values, "favre_velocity_x"), favre, 1e-14, "favre velocity");
    let stress = 0.5 + average(&|t| (1.0 + t) * (t - favre).powi(2)) / mass;
    assert_close(named(&values, "favre_stress_xx"), stress, 1e-14, "favre stress");
    // A second sample at the same time has no effect.
    let before = running.clone();
    running.add(3.5, &moments_of(&flow(|x| [4.5, 7.0, 1.0, 3.5 + x.cos(), x.sin(), 0.0])));
    assert_eq!(running.values(), before.values());
}

#[test]
fn a_small_variance_is_accurate_despite_a_large_mean() {
    // p₀ = 1/(γ Ma²) = 7e5 at Ma = 0.001, p' = 1e-3: the square of p₀ is 5e17 times the variance.
    let mut running = Running::default();
    for step in 0..100_u32 {
        let phase = 0.01 * f64::from(step);
        let sample = flow(|x| [1.0, 7e5 + 1e-3 * (x + phase).cos(), 1.0, 0.0, 0.0, 0.0]);
        running.add(f64::from(step), &moments_of(&sample));
    }
    // The round-off of p, 1.2e-10, is 1.2e-7 of its fluctuation 1e-3.
    let variance = named(&running.values().unwrap(), "pressure_variance");
    assert_close(variance, 0.5e-6, 1e-6, "variance");
}

#[test]
fn running_averages_continue_from_json_bit_for_bit() {
    let samples: Vec<Moments> = (0..6_u32)
        .map(|step| {
            let mut flow = random_flow(POINTS);
            flow.density.rotate_left(step as usize);
            flow.pressure.iter_mut().for_each(|p| *p *= 1.0 + 0.1 * f64::from(step));
            moments_of(&Sample::Flow(Box::new(flow)))
        })
        .collect();
    let mut uninterrupted = Running::default();
    let mut restored = Running::default();
    for (step, sample) in samples.iter().enumerate() {
        let time = float(step) * 0.1 + 1.0 / 3.0;
        uninterrupted.add(time, sample);
        restored.add(time, sample);
        let text = serde_json::to_string(&restored).unwrap();
        restored = serde_json::from_str(&text).unwrap();
        let bits = |running: &Running| -> Vec<u64> {
            running.values().unwrap().iter().map(|value| value.to_bits()).collect()
        };
        assert_eq!(bits(&uninterrupted), bits(&restored));
        assert_eq!(uninterrupted, restored);
        assert_eq!(text, serde_json::to_string(&restored).unwrap());
    }
}

#[test]
fn scalar_moments_are_the_mean_and_the_variance() {
    let phi = field(POINTS, |[i, ..]| 3.0 + 2.0 * (TAU * float(i) / 16.0).sin());
    let values = moments_of(&Sample::Scalar(phi)).values();
    assert_eq!(values.len(), moments::SCALAR.len());
    assert!((values[0] - 3.0).abs() < 1e-15 && (values[1] - 2.0).abs() < 4e-15, "{values:?}");
}
