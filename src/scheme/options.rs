//! What a user chooses of a filter and of implicit steps.

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
    /// α_f in (−½, ½); weaker as it grows.
    #[serde(deserialize_with = "within_half")]
    pub alpha: f64,
    /// Steps from one application to the next. Implicit steps have it as a rate, with the time that so many explicit ones take.
    #[serde(deserialize_with = "count")]
    pub every: u64,
    /// τ of a filter that acts as a rate, (F U − U)/τ in dU/dt; then `every` means nothing.
    #[serde(deserialize_with = "positive", skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
}

impl Default for FilterConfig {
    fn default() -> Self {
        FilterConfig { order: 8, alpha: 0.495, every: 1, time: None }
    }
}

/// As in an input.
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

/// `implicit = { method, ... }` of `[time]`: steps beyond the limit of stability of explicit ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImplicitConfig {
    /// How.
    #[serde(deserialize_with = "method")]
    pub method: Marching,
    /// The fall of the residual at which a steady run, or else each stage, is done; by default 1e-10, or else 1e-6.
    #[serde(deserialize_with = "below_one", skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Most steps of a steady run.
    #[serde(deserialize_with = "count")]
    pub steps: u64,
    /// The same of the linear systems.
    #[serde(deserialize_with = "below_one")]
    pub linear_tolerance: f64,
    /// Dimensions of the Krylov space before it begins anew.
    #[serde(deserialize_with = "few")]
    pub krylov: u32,
    /// Most products of a linear system.
    #[serde(deserialize_with = "few")]
    pub products: u32,
    /// Symmetric sweeps of the preconditioner; by default more at low Mach numbers.
    #[serde(deserialize_with = "some_few", skip_serializing_if = "Option::is_none")]
    pub sweeps: Option<u32>,
    /// The factor by which a steady run may lengthen its step at once.
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
    /// Whether they lead to a steady flow.
    pub fn is_steady(&self) -> bool {
        self.method == Marching::Steady
    }

    /// See `sweeps`: 5, or at low Mach numbers, where the pressure of a point depends on that of all others, 1/Ma, at most 20.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "5 to 20")]
    pub fn sweeps(&self, mach: f64) -> u32 {
        self.sweeps.unwrap_or((1.0 / mach).clamp(5.0, 20.0).round() as u32)
    }

    /// See `tolerance`.
    pub fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(if self.is_steady() { 1e-10 } else { 1e-6 })
    }
}

/// Where implicit steps lead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marching {
    /// To a steady flow: backward Euler, with steps that grow as the residual falls (Mulder and van Leer 1985).
    Steady,
    /// Through time, by backward differences of second order from the two states before (Curtiss and Hirschfelder 1952); the first step is
    /// one of backward Euler.
    Bdf2,
    /// Through time, in the stages of a step.
    InTime(&'static ImplicitMethod),
}

impl Marching {
    /// What the user types.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Bdf2 => "bdf2",
            Self::InTime(method) => method.name,
        }
    }

    /// The order of its error in the step.
    pub fn order(self) -> u32 {
        match self {
            Self::Bdf2 => 2,
            Self::Steady | Self::InTime(_) => self.method().order,
        }
    }

    /// The stages of a step; without what `bdf2` knows of the step before.
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

/// A whole number of what takes memory or time.
fn few<'de, D: Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
    whole::<u32, 1, 10_000, u32, D>(input)
}

/// The same, where it is given.
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
