//! How far two histories lie from each other.

/// The largest |a − b| over the times that both cover: at the rows of the one that has fewer there, where the other is
/// interpolated on straight lines. `None` where they share no time, infinite where a value is no number.
pub fn difference(a: (&[f64], &[f64]), b: (&[f64], &[f64])) -> Option<f64> {
    let (from, to) = (a.0.first()?.max(*b.0.first()?), a.0.last()?.min(*b.0.last()?));
    let rows = |time: &[f64]| -> Vec<usize> {
        (0..time.len()).filter(|&row| (from..=to).contains(&time[row])).collect()
    };
    let (of_a, of_b) = (rows(a.0), rows(b.0));
    let (coarse, fine, rows) = if of_b.len() < of_a.len() { (b, a, of_b) } else { (a, b, of_a) };
    let distances = rows
        .iter()
        .filter_map(|&row| Some((coarse.1[row] - value_at(fine.0, fine.1, coarse.0[row])?).abs()));
    distances.map(|d| if d.is_nan() { f64::INFINITY } else { d }).reduce(f64::max)
}

/// The value at `t` on the straight line between its neighbours; `None` outside the table.
pub fn value_at(time: &[f64], values: &[f64], t: f64) -> Option<f64> {
    let next = time.partition_point(|&sample| sample < t);
    let (&above, &value) = (time.get(next)?, values.get(next)?);
    if above == t {
        return Some(value);
    }
    let below = next.checked_sub(1)?;
    let weight = (t - time[below]) / (above - time[below]);
    Some((1.0 - weight) * values[below] + weight * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_are_compared_on_the_coarser_of_the_two_over_the_times_that_both_cover() {
        let coarse: (&[f64], &[f64]) = (&[0.0, 1.0, 2.0, 9.0], &[0.0, 1.0, 2.0, 100.0]);
        let times: Vec<f64> = (1..=25).map(|row| 0.1 * f64::from(row)).collect();
        // A kink between the coarse rows does not count; at the coarse rows 1 and 2 the distance is 0.25 and 0.5.
        let values: Vec<f64> = times
            .iter()
            .map(|t| 1.25 * t + if (t - 1.5).abs() < 0.3 { 7.0 } else { 0.0 })
            .collect();
        for (a, b) in [(coarse, (&*times, &*values)), ((&*times, &*values), coarse)] {
            assert!((difference(a, b).unwrap_or(f64::NAN) - 0.5).abs() < 1e-12);
        }
        assert_eq!(difference(coarse, coarse), Some(0.0));
        assert_eq!(difference(coarse, (&[10.0, 11.0], &[0.0, 0.0])), None);
        assert_eq!(difference(coarse, (&[0.0, 1.0], &[0.0, f64::NAN])), Some(f64::INFINITY));
    }

    #[test]
    fn values_between_rows_lie_on_straight_lines_and_there_are_none_outside() {
        let (time, values) = ([0.0, 1.0, 3.0], [2.0, 4.0, 0.0]);
        let at = |t| value_at(&time, &values, t);
        assert_eq!([0.0, 0.5, 1.0, 2.0, 3.0].map(at), [2.0, 3.0, 4.0, 2.0, 0.0].map(Some));
        assert_eq!([-0.1, 3.1].map(at), [None, None]);
    }
}
