//! Pieces and planes contain the values of the complete field, each at its point.

use std::f64::consts::TAU;
use std::fs;

use kolmo::Real;
use kolmo::comm::Solo;
use kolmo::grid::{Block, Boxes, Decomposition, End, Grid, redistribute};
use kolmo::io::fields::Layout;
use kolmo::io::pieces::{Selection, boxes, joined, plane};
use kolmo::io::{FieldData, FieldWriter};

use super::threads::on_ranks;
use super::{DECOMPOSITIONS, python_script};

/// A distinct number for every point of the whole grid and every component.
fn mark(index: [usize; 3], component: usize) -> f64 {
    let [i, j, k] = index;
    (((k * 100 + j) * 100 + i) * 3 + component) as f64
}

fn marks<T: Real>(block: &Block, components: usize) -> Vec<T> {
    let point = |at| (0..components).map(move |c| T::of(mark(block.index(at), c)));
    (0..block.len()).flat_map(point).collect()
}

/// A grid with a point at every integer.
fn integer_grid(points: [usize; 3], ends: [Option<[End; 2]>; 3]) -> Grid {
    Grid {
        points,
        origin: [0.0; 3],
        spacing: [1.0; 3],
        ends,
        end_weights: [[&[0.5]; 2]; 3],
        lines: Default::default(),
        plane: None,
    }
}

/// Selections of a grid: all points; every second point of a box in the interior, of a box that reaches the end of the periods, and of
/// a box that misses it; and a plane.
fn selections(grid: &Grid) -> [Selection; 5] {
    let all = Selection::all(grid);
    [
        all,
        Selection::between(grid, [2.0, 1.0, 0.0], [8.0, 5.0, 4.0], 2),
        Selection::between(grid, [3.0, 1.0, 1.0], [11.0, 7.0, 5.0], 2),
        Selection::between(grid, [2.0, 0.0, 0.0], [11.0, 7.0, 5.0], 2),
        all.across(grid, 1, 4.0),
    ]
}

#[test]
fn periodic_axis_is_closed_only_if_the_selection_reaches_its_end() {
    let (points, all) = ([12, 8, 1], [f64::MIN, f64::MAX]);
    let between = |ends, from: f64, to: f64, stride| {
        let grid = integer_grid(points, ends);
        Selection::between(&grid, [from; 3], [to; 3], stride)
    };
    let [least, most] = all;
    for (ends, from, to, stride, expected, closed) in [
        ([None; 3], least, most, 1, [13, 9, 1], [true, true, false]),
        ([None, Some([End::ByParts; 2]), None], least, most, 1, [13, 8, 1], [true, false, false]),
        ([None; 3], least, most, 4, [4, 3, 1], [true, true, false]),
        // 8 is not a multiple of 3: the last point along y is 6.
        ([None; 3], least, most, 3, [5, 3, 1], [true, false, false]),
        ([None; 3], 1.0, 7.0, 1, [7, 7, 1], [false; 3]),
        ([None; 3], 2.0, 8.0, 1, [7, 7, 1], [false, true, false]),
        ([None; 3], 2.0, most, 5, [3, 2, 1], [true, false, false]),
    ] {
        let selection = between(ends, from, to, stride);
        assert_eq!(
            (selection.points, selection.closed),
            (expected, closed),
            "{from} {to} {stride}"
        );
    }
    // A plane one period beyond the first is the first. A box that begins in the interior repeats no plane.
    let grid = integer_grid(points, [None; 3]);
    let plane = Selection::all(&grid).across(&grid, 0, 12.0);
    assert_eq!((plane.first, plane.points), ([0; 3], [1, 9, 1]));
    assert_eq!(Selection::all(&grid).image(&grid).repeats, [true, true, false]);
    assert_eq!(between([None; 3], 2.0, most, 1).image(&grid).repeats, [false; 3]);
}

#[test]
fn boxes_of_writers_overlap_by_one_layer_and_contain_all_selected_values() {
    let points = [11, 7, 5];
    let grid = integer_grid(points, [None; 3]);
    for ranks_along in DECOMPOSITIONS {
        let decomposition = Decomposition { ranks: ranks_along };
        let size = decomposition.size();
        for selection in selections(&grid) {
            for files in [1, 2, 3, size] {
                let boxes = boxes(&decomposition, points, &selection, files);
                let writers = boxes.all().count();
                assert!(writers <= files.min(size) || files == size, "{ranks_along:?} {files}");
                // Each cell of the selected points is in exactly one box.
                let along = |part: &Block, a: usize| match selection.points[a] {
                    1 => 1,
                    _ => part.points[a] - 1,
                };
                let cells = |part: &Block| (0..3).map(|a| along(part, a)).product::<usize>();
                let found: usize = boxes.all().map(|(_, part)| cells(&part)).sum();
                assert_eq!(
                    found,
                    cells(&Block::whole(selection.points)),
                    "{ranks_along:?} {files}"
                );
                on_ranks(size, |comm| {
                    let block = decomposition.block(comm.rank(), points);
                    for components in [1, 3] {
                        let values = marks::<f64>(&block, components).into();
                        let field = FieldData { name: "mark".into(), components, values };
                        let mine = selection.of(&block, &field);
                        let found =
                            joined(&*comm, &decomposition, points, &selection, &boxes, mine);
                        let part = boxes.of(comm.rank());
                        let at = |n: usize| {
                            let at = part.index(n / components);
                            std::array::from_fn(|a| {
                                (selection.first[a] + at[a] * selection.stride) % points[a]
                            })
                        };
                        let expected =
                            (0..part.len() * components).map(|n| mark(at(n), n % components));
                        assert_eq!(found.values, expected.collect::<Vec<_>>().into());
                    }
                });
            }
        }
    }
}

#[test]
fn plane_is_assembled_on_rank_0() {
    let points = [11, 7, 5];
    for ranks_along in DECOMPOSITIONS {
        let decomposition = Decomposition { ranks: ranks_along };
        on_ranks(decomposition.size(), |comm| {
            let values = marks::<f64>(&decomposition.block(comm.rank(), points), 1);
            for (a, n) in points.into_iter().enumerate() {
                for (at, stride) in [(0, 1), (n / 2, 3), (n - 1, 1), (n - 1, 2)] {
                    let found = plane(&*comm, &decomposition, points, (a, at, stride), &values);
                    let all = Block { start: [0; 3], points };
                    let inside = |p: &usize| {
                        let index = all.index(*p);
                        let shown = |b: usize| b == a || index[b].is_multiple_of(stride);
                        index[a] == at && (0..3).all(shown)
                    };
                    let expected: Vec<f64> =
                        (0..all.len()).filter(inside).map(|p| mark(all.index(p), 0)).collect();
                    assert_eq!(found, (comm.rank() == 0).then_some(expected));
                }
            }
        });
    }
}

#[test]
fn vtk_reads_every_value_at_its_point_from_pieces_and_single_file() {
    let (points, ranks_along) = ([11, 7, 5], [3, 2, 2]);
    let decomposition = Decomposition { ranks: ranks_along };
    let grid = Grid {
        origin: [0.1, -0.2, 0.3],
        spacing: points.map(|n| TAU / f64::from(u32::try_from(n).unwrap())),
        ..integer_grid(points, [None; 3])
    };
    let dir = tempfile::tempdir().unwrap();
    let values = |components| {
        let block = Block { start: [0; 3], points };
        FieldData {
            name: "whole".into(),
            components,
            values: marks::<f64>(&block, components).into(),
        }
    };
    let layout = |files| Layout { grid: grid.clone(), selection: Selection::all(&grid), files };
    let mut writer = FieldWriter::new(dir.path(), "fields", layout(1));
    let whole = [Ok(writer.selection().of(&Block::whole(points), &values(1)))];
    writer.write(&Solo, &Decomposition::ONE, (7, 0.5), whole).unwrap();
    let bytes = on_ranks(decomposition.size(), |comm| {
        let block = decomposition.block(comm.rank(), points);
        let field =
            |name: &str, components, values| FieldData { name: name.into(), components, values };
        let fields = [
            field("density", 1, marks::<f64>(&block, 1).into()),
            field("velocity", 3, marks::<f64>(&block, 3).into()),
            field("pressure", 1, marks::<f32>(&block, 1).into()),
        ];
        let mut writer = FieldWriter::new(dir.path(), "fields", layout(comm.size()));
        let selection = *writer.selection();
        let fields = fields.iter().map(|field| Ok(selection.of(&block, field)));
        writer.write(&*comm, &decomposition, (7, 0.5), fields).unwrap()
    });
    let pieces = fs::read_dir(dir.path().join("step_00000007")).unwrap();
    let sizes: Vec<u64> = pieces.map(|file| file.unwrap().metadata().unwrap().len()).collect();
    assert_eq!(sizes.len(), 12);
    assert_eq!(sizes.iter().sum::<u64>(), bytes[0]);
    let index = fs::read_to_string(dir.path().join("fields.pvti.series")).unwrap();
    assert!(index.contains("\"step_00000007.pvti\"") && index.contains("0.5"), "{index}");
    let script = r#"
import math, sys, vtk
from pathlib import Path

def read(reader, path):
    reader.SetFileName(str(path))
    reader.Update()
    assert reader.GetErrorCode() == 0, path
    return reader.GetOutput()

def check(image, path):
    """Every value encodes its index in the whole grid; points one period beyond the first repeat the first."""
    i0, i1, j0, j1, k0, k1 = image.GetExtent()
    data = image.GetPointData()
    for k in range(k0, k1 + 1):
        for j in range(j0, j1 + 1):
            for i in range(i0, i1 + 1):
                point = image.ComputePointId((i, j, k))
                mark = 3.0 * ((100 * (k % 5) + j % 7) * 100 + i % 11)
                assert data.GetArray("density").GetTuple(point) == (mark,), (path, i, j, k)
                assert data.GetArray("velocity").GetTuple(point) == (mark, mark + 1, mark + 2), (path, i, j, k)
                assert data.GetArray("pressure").GetTuple(point) == (mark,), (path, i, j, k)
    return (i1 - i0) * (j1 - j0) * (k1 - k0)

fields = Path(sys.argv[1])
whole = read(vtk.vtkXMLPImageDataReader(), fields / "step_00000007.pvti")
single = read(vtk.vtkXMLImageDataReader(), fields / "step_00000007.vti")
assert whole.GetExtent() == single.GetExtent() == (0, 11, 0, 7, 0, 5), whole.GetExtent()
assert whole.GetOrigin() == single.GetOrigin(), (whole.GetOrigin(), single.GetOrigin())
assert whole.GetSpacing() == single.GetSpacing(), (whole.GetSpacing(), single.GetSpacing())
for start, end, origin in zip(single.GetBounds()[::2], single.GetBounds()[1::2], (0.1, -0.2, 0.3)):
    assert start == origin and abs(end - start - math.tau) < 2e-15, single.GetBounds()
for image in (whole, single):
    repeats = image.GetFieldData().GetArray("last_plane_repeats_first")
    assert [repeats.GetValue(axis) for axis in range(3)] == [1, 1, 1]
assert whole.GetPointData().GetArray("pressure").GetDataTypeAsString() == "float"
cells = check(whole, "whole")
pieces = sorted((fields / "step_00000007").iterdir())
found = 0
for path in pieces:
    image = read(vtk.vtkXMLImageDataReader(), path)
    assert image.GetOrigin() == single.GetOrigin() and image.GetSpacing() == single.GetSpacing()
    found += check(image, path)
# No gaps and no repeated cells.
assert found == cells == 11 * 7 * 5, (found, cells)
"#;
    python_script(script, &[dir.path()]);
}

#[test]
#[expect(clippy::single_range_in_vec_init, reason = "one range along that axis is intended")]
fn redistribute_fills_arbitrary_boxes_from_the_blocks_of_all_ranks() {
    let points = [11, 7, 5];
    for ranks_along in DECOMPOSITIONS {
        let decomposition = Decomposition { ranks: ranks_along };
        on_ranks(decomposition.size(), |comm| {
            // Boxes that overlap, that extend beyond the grid, that have no points, and that exist on some ranks only.
            let wide = [vec![0..6, 4..14], vec![2..9], vec![1..4, 4..4]];
            let long = [vec![3..5], vec![0..7], vec![0..5]];
            let have = Boxes::blocks(decomposition, points);
            for along in [wide, long].into_iter().filter(|along| box_count(along) <= comm.size()) {
                let want = Boxes::new(along, comm.size());
                for components in [1, 2] {
                    let values = marks::<f64>(&have.of(comm.rank()), components);
                    let found = redistribute(&*comm, &have, &want, components, &values, -1.0);
                    let block = want.of(comm.rank());
                    let inside = |at: [usize; 3]| (0..3).all(|a| at[a] < points[a]);
                    let expected = (0..block.len() * components).map(|n| {
                        let at = block.index(n / components);
                        if inside(at) { mark(at, n % components) } else { -1.0 }
                    });
                    assert_eq!(found, expected.collect::<Vec<_>>(), "{ranks_along:?}");
                }
            }
        });
    }
}

fn box_count(along: &[Vec<std::ops::Range<usize>>; 3]) -> usize {
    along.iter().map(Vec::len).product()
}

#[test]
fn redistribute_sends_messages_only_between_ranks_with_common_points() {
    let (points, cut) = ([10, 10, 10], Decomposition { ranks: [10, 10, 10] });
    let sent = on_ranks(1000, |comm| {
        let have = Boxes::blocks(cut, points);
        let line = Block { start: [0, 3, 4], points: [10, 1, 1] };
        let before = comm.sent().messages;
        redistribute(&*comm, &have, &Boxes::on_rank_0(line), 1, &[0.5], 0.0);
        comm.sent().messages - before
    });
    let senders: Vec<usize> = (0..1000).filter(|rank| sent[*rank] > 0).collect();
    assert_eq!(senders, (430..440).collect::<Vec<_>>());
    assert_eq!(sent.iter().sum::<u64>(), 10);
}
