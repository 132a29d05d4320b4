//! A configuration as a list of keys: what has to be the same on all ranks of a run.

use super::Config;
use crate::comm::Fact;

/// What each rank may have of its own: ranks of unequal hosts have unequal numbers of cores and devices, and no result depends on
/// them.
const OWN: [&str; 2] = ["compute.threads", "compute.device"];

impl Config {
    /// Every key that is the same on all ranks, with its resolved value.
    pub fn shared_keys(&self) -> Vec<Fact> {
        // What is written can be read.
        let sections: toml::Table = self.to_toml().parse().unwrap_or_default();
        let keys = |(section, keys): (String, toml::Value)| {
            let keys = keys.as_table().cloned().unwrap_or_default().into_iter();
            keys.map(move |(key, value)| (format!("{section}.{key}"), value.to_string()))
        };
        sections.into_iter().flat_map(keys).filter(|(key, _)| !OWN.contains(&&**key)).collect()
    }
}
