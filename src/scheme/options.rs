//! What a user chooses of a filter.

use std::fmt;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

use crate::typed::{count, whole, within_half};

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
    /// Steps from one application to the next.
    #[serde(deserialize_with = "count")]
    pub every: u64,
}

impl Default for FilterConfig {
    fn default() -> Self {
        FilterConfig { order: 8, alpha: 0.495, every: 1 }
    }
}

/// As in an input.
impl fmt::Display for FilterConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { order, alpha, every } = self;
        write!(f, "{{ order = {order}, alpha = {alpha:?}, every = {every} }}")
    }
}

fn order<'de, D: Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
    let order = whole::<u32, 2, 10, u32, D>(input)?;
    let odd = || D::Error::invalid_value(Unexpected::Unsigned(order.into()), &"2, 4, 6, 8 or 10");
    order.is_multiple_of(2).then_some(order).ok_or_else(odd)
}
