//! Permutations of axes on a device.

use kolmo::Real;
use kolmo::backend::device::{Buffer, Permutation};

use super::device;

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Panics unless every point of the result equals the point of the source with the same coordinates.
fn assert_permutes<T: Real + From<f32>>(points: [usize; 3], order: [usize; 3]) {
    let device = device();
    let len: usize = points.iter().product();
    let mut number = 0.0_f32;
    let source: Vec<T> = std::iter::repeat_with(|| {
        number += 1.0;
        T::from(number)
    })
    .take(len)
    .collect();
    let permutation = Permutation::new(&device, T::PRECISION, points, order).unwrap();
    let from = Buffer::from_host(&device, &source).unwrap();
    let to = Buffer::from_host(&device, &vec![T::of(f64::NAN); len]).unwrap();
    permutation.apply(&from, &to);
    let found = to.download::<T>().unwrap();
    let result = order.map(|axis| points[axis]);
    for (at, value) in found.iter().enumerate() {
        let moved = [at % result[0], at / result[0] % result[1], at / (result[0] * result[1])];
        let mut index = [0; 3];
        (0..3).for_each(|a| index[order[a]] = moved[a]);
        let expected = source[index[0] + points[0] * (index[1] + points[1] * index[2])];
        assert!(*value == expected, "{points:?} in order {order:?}: {value} at {moved:?}");
    }
}

#[test]
fn permutations_move_every_point_to_its_place() {
    for order in ORDERS {
        assert_permutes::<f64>([33, 7, 65], order);
        assert_permutes::<f64>([5, 3, 40], order);
        assert_permutes::<f64>([5, 64, 3], order);
    }
    assert_permutes::<f32>([31, 33, 2], [1, 0, 2]);
    assert_permutes::<f32>([1, 9, 40], [2, 0, 1]);
}
