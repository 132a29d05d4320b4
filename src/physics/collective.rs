//! What the points of all ranks say together. All ranks must call these.

use crate::comm::Communicator;

/// A point with an unphysical state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Broken {
    /// The name of the field that it is found by.
    pub(super) field: String,
    /// Its value there.
    pub(super) value: f64,
    /// (i, j, k) in the whole grid.
    pub(super) index: [usize; 3],
}

impl Broken {
    fn to_bytes(&self) -> Vec<u8> {
        let index = self.index.map(|at| (at as u64).to_le_bytes());
        [index.as_flattened(), &self.value.to_le_bytes(), self.field.as_bytes()].concat()
    }

    /// `None` for no bytes.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (words, field) = bytes.split_first_chunk::<32>()?;
        let words: [[u8; 8]; 4] = words.as_chunks().0.try_into().ok()?;
        let [i, j, k, value] = words;
        let [i, j, k] = [i, j, k].map(|at| usize::try_from(u64::from_le_bytes(at)).ok());
        let index = [i?, j?, k?];
        let field = String::from_utf8_lossy(field).into_owned();
        Some(Self { field, value: f64::from_le_bytes(value), index })
    }
}

/// The broken point of the lowest rank that has one, on all ranks.
pub(super) fn lowest(comm: &dyn Communicator, found: Option<Broken>) -> Option<Broken> {
    let mine = found.as_ref().map(Broken::to_bytes).unwrap_or_default();
    let told = comm.gather(&mine).unwrap_or_default();
    let first = told.into_iter().find(|bytes| !bytes.is_empty()).unwrap_or_default();
    Broken::from_bytes(&comm.broadcast(0, first))
}

/// (root mean square, maximum) of the errors at the points of all ranks, each with its weight; `scale` is one over the sum of all
/// weights.
pub(super) fn norms(
    comm: &dyn Communicator,
    scale: f64,
    errors: impl Iterator<Item = (f64, f64)>,
) -> [f64; 2] {
    let (mut square, mut largest) = ([0.0], [0.0_f64]);
    for (error, weight) in errors {
        square[0] += weight * (error * error);
        largest[0] = largest[0].max(error.abs());
    }
    comm.sum(&mut square);
    comm.max(&mut largest);
    [(square[0] * scale).sqrt(), largest[0]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::Solo;

    #[test]
    fn a_broken_point_arrives_as_it_was_sent_and_none_as_none() {
        let sent = Broken { field: "pressure".into(), value: -3.5e-7, index: [17, 0, 1 << 33] };
        assert_eq!(lowest(&Solo, Some(sent.clone())), Some(sent.clone()));
        let unknown = Broken { value: f64::NAN, field: "dye".into(), ..sent };
        assert!(lowest(&Solo, Some(unknown)).is_some_and(|b| b.value.is_nan()));
        assert_eq!(lowest(&Solo, None), None);
    }
}
