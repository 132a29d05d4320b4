//! User options of the filter and of implicit time steps.

use std::fmt;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{BACKWARD_EULER, IMPLICIT_METHODS, ImplicitMethod};
use crate::typed::{above_one, below_one, count, positive, whole, within_half};

/// `filter = { order, alpha, every }`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FilterConfig {
    /// 2, 4, 6, 8 or 10.
    #[serde(deserialize_with = "order")]
    pub order: u32,
    /// α_f in (−½, ½); the filter is weaker for larger values.
    #[serde(deserialize_with = "within_half")]
    pub alpha: f64,
    /// Steps from one application to the next. Implicit steps apply it as a rate, with the time of this many explicit
    /// steps.
    #[serde(deserialize_with = "count")]
    pub every: u64,
    /// τ of a filter that acts as a rate, (F U − U)/τ in dU/dt; `every` is then ignored.
    #[serde(deserialize_with = "positive", skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
}

impl Default for FilterConfig {
    fn default() -> Self {
        FilterConfig { order: 8, alpha: 0.495, every: 1, time: None }
    }
}

/// Prints the filter as in an input file.
impl fmt::Display for FilterConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { order, alpha, every, time } = self;
        match time {
            None => write!(f, "{{ order = {order}, alpha = {alpha:?}, every = {every} }}"),
            Some(time) => write!(f, "{{ order = {order}, alpha = {alpha:?}, time = {time:?} }}"),
        }
    }
}

fn order<'de, D: Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
    let order = whole::<u32, 2, 10, u32, D>(input)?;
    let odd = || D::Error::invalid_value(Unexpected::Unsigned(order.into()), &"2, 4, 6, 8 or 10");
    order.is_multiple_of(2).then_some(order).ok_or_else(odd)
}

/// `implicit = { method, ... }` of `[time]`: time steps beyond the stability limit of explicit methods.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImplicitConfig {
    /// Time integration method.
    #[serde(deserialize_with = "method")]
    pub method: Marching,
    /// Reduction of the residual at which a steady run, or each stage of an unsteady one, has converged; by default
    /// 1e-10 or 1e-6, respectively.
    #[serde(deserialize_with = "below_one", skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Maximum number of steps of a steady run.
    #[serde(deserialize_with = "count")]
    pub steps: u64,
    /// Reduction of the residual at which a linear system has converged.
    #[serde(deserialize_with = "below_one")]
    pub linear_tolerance: f64,
    /// Dimension of the Krylov space before a restart.
    #[serde(deserialize_with = "few")]
    pub krylov: u32,
    /// Maximum number of matrix-vector products per linear system.
    #[serde(deserialize_with = "few")]
    pub products: u32,
    /// Symmetric sweeps of the preconditioner; by default more at low Mach numbers.
    #[serde(deserialize_with = "some_few", skip_serializing_if = "Option::is_none")]
    pub sweeps: Option<u32>,
    /// Maximum factor by which a steady run may increase its step at once.
    #[serde(deserialize_with = "above_one")]
    pub growth: f64,
}

impl Default for ImplicitConfig {
    fn default() -> Self {
        Self {
            method: Marching::Steady,
            tolerance: None,
            steps: 1000,
            linear_tolerance: 1e-2,
            krylov: 100,
            products: 100,
            sweeps: None,
            growth: 2.0,
        }
    }
}

impl ImplicitConfig {
    /// True if the implicit steps march to a steady flow.
    pub fn is_steady(&self) -> bool {
        self.method == Marching::Steady
    }

    /// Returns `sweeps`, by default 5, or more at low Mach numbers, where the pressure at a point depends on that at
    /// all others: 1/Ma, at most 20.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "5 to 20")]
    pub fn sweeps(&self, mach: f64) -> u32 {
        self.sweeps.unwrap_or((1.0 / mach).clamp(5.0, 20.0).round() as u32)
    }

    /// Returns `tolerance` or its default.
    pub fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(if self.is_steady() { 1e-10 } else { 1e-6 })
    }
}

/// Goal and method of implicit time steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marching {
    /// To a steady flow: backward Euler, with steps that grow as the residual falls (Mulder and van Leer 1985).
    Steady,
    /// Time-accurate, by backward differences of second order from the two previous states (Curtiss and Hirschfelder
    /// 1952); the first step is backward Euler.
    Bdf2,
    /// Time-accurate, by the stages of a Runge-Kutta method.
    InTime(&'static ImplicitMethod),
}

impl Marching {
    /// Name in an input file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Bdf2 => "bdf2",
            Self::InTime(method) => method.name,
        }
    }

    /// Order of accuracy in the time step.
    pub fn order(self) -> u32 {
        match self {
            Self::Bdf2 => 2,
            Self::Steady | Self::InTime(_) => self.method().order,
        }
    }

    /// The stages of a step; for `bdf2` without the terms of the previous step.
    pub fn method(self) -> &'static ImplicitMethod {
        match self {
            Self::Steady | Self::Bdf2 => &BACKWARD_EULER,
            Self::InTime(method) => method,
        }
    }
}

impl Serialize for Marching {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(self.name())
    }
}

/// A whole number of items that cost memory or time.
fn few<'de, D: Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
    whole::<u32, 1, 10_000, u32, D>(input)
}

/// Like [`few`], for an optional value.
fn some_few<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u32>, D::Error> {
    few(input).map(Some)
}

fn method<'de, D: Deserializer<'de>>(input: D) -> Result<Marching, D::Error> {
    let name = String::deserialize(input)?;
    let all = [Marching::Steady, Marching::Bdf2].into_iter();
    let all = all.chain(IMPLICIT_METHODS.into_iter().map(Marching::InTime));
    all.clone().find(|marching| marching.name() == name).ok_or_else(|| {
        let allowed: Vec<&str> = all.map(Marching::name).collect();
        let allowed = format!("one of {}", allowed.join(", "));
        D::Error::invalid_value(Unexpected::Str(&name), &allowed.as_str())
    })
}
