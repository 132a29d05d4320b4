//! Line solves directly from field to field are bitwise identical to line solves through registers.

use kolmo::backend::{ComputeConfig, Simd};

use super::*;

/// `op` applied to `f` along `axis`, to other fields and in place, with no further use of the result. Then `op` applied to `f` times one.
fn directly<T: Real>(
    cpu: &Cpu<T>,
    operators: &LineOperators,
    grid: &Grid,
    axis: Axis,
    op: Op,
    f: &Field<T>,
) -> [Field<T>; 5] {
    let s = SweepBuilder::new();
    s.store(1, s.apply(op, s.read(0)));
    s.store(0, s.apply(op, s.previous(0)));
    s.store(2, s.apply(op, s.read(1)));
    let program = Program::new(&s.build(), axis, grid.points, operators);
    let (mut in_place, mut one, mut other) = (f.clone(), poisoned(grid), poisoned(grid));
    let mut write = [&mut in_place, &mut one, &mut other];
    cpu.run(&program, &[f, f], &mut write, Weights::times(0.5));
    // Without a step in place, stores to large fields bypass the caches.
    let s = SweepBuilder::new();
    s.store(0, s.apply(op, s.read(0)));
    let program = Program::new(&s.build(), axis, grid.points, operators);
    let mut alone = poisoned(grid);
    cpu.run(&program, &[f], &mut [&mut alone], Weights::times(0.5));
    let s = SweepBuilder::new();
    s.store(0, s.apply(op, s.read(0) * s.read(1)));
    let program = Program::new(&s.build(), axis, grid.points, operators);
    let (mut ones, mut product) = (f.clone(), poisoned(grid));
    ones.fill(T::of(1.0));
    cpu.run(&program, &[f, &ones], &mut [&mut product], Weights::SET);
    [in_place, one, other, alone, product]
}

/// Applies every operator of the grid to noise, directly and through registers, which a sum uses. Returns the number of operators.
fn compare<T: Real>(
    cpu: &Cpu<T>,
    family: &SchemeFamily,
    grid: &Grid,
    axis: Axis,
    filter: &Scheme,
) -> usize {
    let operators = LineOperators::new(family, Some(filter), grid, T::PRECISION);
    let noise = crate::lines::noise(grid.len(), 7);
    let mut f = Field::zeros(grid.len());
    f.iter_mut().zip(noise).for_each(|(to, x)| *to = T::of(x));
    let mut count = 0;
    for op in OPS.into_iter().filter(|op| operators.find(axis, *op).is_some()) {
        let through_registers = apply(cpu, &operators, grid, axis, op, &f);
        assert!(distance(&through_registers, &through_registers) == 0.0, "NaN");
        for found in directly(cpu, &operators, grid, axis, op, &f) {
            let points = grid.points;
            assert!(same(&found, &through_registers), "{} {op:?} {axis:?} {points:?}", family.name);
        }
        count += 1;
    }
    count
}

/// All families along lines of `sizes` points, with numbers of lines that fill tiles and numbers that do not.
fn all_families<T: Real>(threads: usize, sizes: &[usize]) {
    let cpu = Cpu::<T>::new(Some(threads)).unwrap();
    let mut count = 0;
    for (at, family) in families().iter().enumerate() {
        let filter = compact_filter(2 * (1 + at as u32 % 5), 0.4);
        for (&n, axis) in sizes.iter().flat_map(|n| Axis::ALL.map(|axis| (n, axis))) {
            for across in [[64, 3], [128, 3], [16, 2], [83, 2], [80, 1], [147, 1], [1, 5]] {
                for periodic in [true, false] {
                    let grid = grid(axis, n, across, periodic);
                    count += compare(&cpu, family, &grid, axis, &filter);
                }
            }
        }
    }
    assert!(count > 100 * families().len(), "{count}");
}

#[test]
fn direct_and_register_line_solves_are_bitwise_identical() {
    all_families::<f64>(2, &[24, 32, 33, 34, 69]);
}

#[test]
fn direct_and_register_line_solves_are_bitwise_identical_in_f32() {
    all_families::<f32>(1, &[23, 32, 64, 66]);
}

/// Lines that are shorter than a group of eight rows, or end within the second one, with every set of vector instructions.
#[test]
fn direct_line_solves_of_short_lines_are_bitwise_identical_on_every_instruction_set() {
    let filter = compact_filter(2, 0.4);
    for simd in [Simd::Baseline, Simd::Avx2, Simd::Avx512, Simd::Neon] {
        let compute = ComputeConfig { simd: Some(simd), threads: Some(1), ..Default::default() };
        let Ok(cpu) = Cpu::<f64>::configured(&compute, None) else { continue };
        for (n, axis) in [5, 7, 9, 10, 34].into_iter().flat_map(|n| Axis::ALL.map(|axis| (n, axis)))
        {
            let grid = grid(axis, n, [64, 8], true);
            assert!(compare(&cpu, family("compact6").unwrap(), &grid, axis, &filter) > 0);
        }
    }
}

#[test]
fn cache_bypassing_writes_of_large_fields_are_bitwise_identical() {
    fn large<T: Real>(points: [usize; 3], family: &SchemeFamily) {
        let cpu = Cpu::<T>::new(Some(2)).unwrap();
        let grid = Grid::periodic(points, &Domain::cube(1.0));
        let filter = compact_filter(10, 0.45);
        for axis in Axis::ALL {
            assert!(compare(&cpu, family, &grid, axis, &filter) > 0);
        }
    }
    for name in ["compact6", "compact10-penta"] {
        let family = family(name).unwrap();
        large::<f64>([128, 128, 64], family);
        large::<f64>([136, 127, 65], family);
        large::<f32>([144, 128, 128], family);
    }
}
