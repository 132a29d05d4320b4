//! The difference between two time histories.

/// The largest |a − b| over the common time interval, at the rows of the history that has fewer rows there, with linear
/// interpolation of the other one. If neither has two rows there, the first and the last of these times are used. `None` if there
/// is no common time, infinite if a value is not a number.
pub fn difference(a: (&[f64], &[f64]), b: (&[f64], &[f64])) -> Option<f64> {
    let (from, to) = (a.0.first()?.max(*b.0.first()?), a.0.last()?.min(*b.0.last()?));
    let [of_a, of_b] = [a.0, b.0].map(|time| -> Vec<f64> {
        time.iter().copied().filter(|t| (from..=to).contains(t)).collect()
    });
    let mut times = if of_b.len() < of_a.len() { of_b } else { of_a };
    if times.len() < 2 {
        times.extend([from, to]);
    }
    let distance = |t| Some((value_at(a.0, a.1, t)? - value_at(b.0, b.1, t)?).abs());
    let distances = times.into_iter().filter_map(distance);
    distances.map(|d| if d.is_nan() { f64::INFINITY } else { d }).reduce(f64::max)
}

/// The value at `t` by linear interpolation; `None` outside the table.
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
