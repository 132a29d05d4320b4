//! The ID of a run.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::comm::{Communicator, host};

/// Unique ID of a run: 32 hexadecimal digits. It is created where a run starts from its case or from the checkpoint of another
/// run; restarts keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(u128);

impl RunId {
    /// A new ID, from the system's random numbers, the time, the process and the host.
    #[allow(clippy::new_without_default, reason = "no two are equal")]
    pub fn new() -> Self {
        let entropy = (SystemTime::now(), std::process::id(), host());
        // Each state has its own random keys.
        let half = || u128::from(RandomState::new().hash_one(&entropy));
        Self(half() << 64 | half())
    }

    /// A new ID, the same on all ranks. Collective.
    pub fn shared(comm: &dyn Communicator) -> Self {
        let own = Self::new();
        let first = comm.broadcast(0, own.bytes().to_vec());
        <[u8; 16]>::try_from(first).map_or(own, |bytes| Self(u128::from_le_bytes(bytes)))
    }

    pub(super) fn bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for RunId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let digits = (text.len() == 32 && text.bytes().all(is_digit)).then_some(text);
        let number = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok());
        number.map(Self).ok_or_else(|| format!("{text:?} is not a run ID of 32 hexadecimal digits"))
    }
}

impl TryFrom<String> for RunId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.to_string()
    }
}
