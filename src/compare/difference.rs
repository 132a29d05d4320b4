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
