//! Pictures of planes, and their scales.

use super::*;

#[test]
fn a_slice_is_drawn_upright_and_greys_what_is_no_number() {
    let run = tempfile::tempdir().unwrap();
    let path = run.path().join("slice.png");
    // 3 × 2 points: the lower left is the smallest, the upper right the largest, the lower right no number.
    let values = [0.0, 0.5, f64::NAN, 0.5, 0.5, 1.0];
    let slice = Slice {
        plane: Plane::Xy,
        at: 0.0,
        quantity: "test",
        unit: "",
        edges: [[0.0, 3.0], [0.0, 2.0]],
        points: [3, 2],
        values: &values,
        range: [0.0, 1.0],
    };
    kolmo::io::slices::write_slice(&path, &slice).unwrap();
    let file = std::io::BufReader::new(fs::File::open(&path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    assert_eq!((width, height), (384, 256));
    let at = |x: usize, y: usize| pixels[x + width * y];
    assert_eq!(at(0, height - 1), 0);
    assert_eq!(at(width - 1, 0), 254);
    assert_eq!(at(width - 1, height - 1), 255);
    assert_eq!(at(0, 0), 127);
    // Half-way between 0 and 0.5 along the left side.
    assert!((62..=65).contains(&at(0, height / 2)));
}

/// Spacings differ from axis to axis: a pixel is a square nevertheless. A side has its points at least, but for pictures of more than 2^20 pixels.
#[test]
fn a_picture_is_to_scale_up_to_eight_times_as_long_as_high() {
    let run = tempfile::tempdir().unwrap();
    let path = run.path().join("slice.png");
    for (lengths, points, size) in [
        ([2.0, 1.0], [48, 24], [384, 192]),
        ([3.2, 2.0], [32, 65], [416, 260]),
        ([1.0, 4.0], [10, 10], [100, 400]),
        ([100.0, 1.0], [100, 4], [400, 50]),
        ([1.0, 1.0], [3000, 2], [1024, 1024]),
        ([4.0, 1.0], [30, 1000], [2048, 512]),
        ([0.0, 1.0], [1, 100], [50, 400]),
    ] {
        let values = vec![0.0; points[0] * points[1]];
        let slice = Slice {
            plane: Plane::Xy,
            at: 0.0,
            quantity: "test",
            unit: "",
            edges: lengths.map(|length| [1.0, 1.0 + length]),
            points,
            values: &values,
            range: [0.0, 1.0],
        };
        kolmo::io::slices::write_slice(&path, &slice).unwrap();
        let file = std::io::BufReader::new(fs::File::open(&path).unwrap());
        let reader = png::Decoder::new(file).read_info().unwrap();
        let found = [reader.info().width, reader.info().height];
        assert_eq!(found, size, "{lengths:?} {points:?}");
    }
}

/// Palette and pixels of a picture.
fn indexed(path: &Path) -> (Vec<[u8; 3]>, Vec<u8>) {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let palette = reader.info().palette.as_ref().unwrap();
    (palette.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(), pixels)
}

/// Draw the corners of a plane, at step 0 from 0 to 2, at step 1 from 0 to 4.
pub(super) fn draw_corners(slices: &mut SliceWriter, step: u64) {
    let most = [2.0, 4.0][usize::from(step > 0)];
    let slice = Slice {
        plane: Plane::Yz,
        at: 1.5,
        quantity: "vorticity magnitude",
        unit: "V₀/L",
        edges: [[-0.5, 6.5]; 2],
        points: [2, 2],
        values: &[0.0, most / 2.0, most, most / 4.0],
        range: [0.0, most],
    };
    slices.write(step, step as f64, &slice).unwrap();
}

#[test]
fn a_colour_means_one_value_at_all_times_of_a_plane_whatever_the_parts_a_run_was_done_in() {
    let dir = tempfile::tempdir().unwrap();
    let [whole, parts] = ["whole", "parts"].map(|name| dir.path().join(name));
    let [first, second] = [0, 1].map(|step| format!("step_{step:08}_yz.png"));
    let mut slices = SliceWriter::create(&whole).unwrap();
    draw_corners(&mut slices, 0);
    let (_, before) = indexed(&whole.join(&first));
    draw_corners(&mut slices, 1);
    slices.finish().unwrap();
    let (low, pixels) = indexed(&whole.join(&first));
    let (high, others) = indexed(&whole.join(&second));
    // The pixels stay: the same shape, four times as large. 2 is the end of the first palette, the middle of the second.
    assert!(pixels == before && pixels == others);
    assert_eq!((low[254], low[0], low[255]), (high[127], high[0], high[255]));
    assert_ne!(low[254], high[254]);

    let mut slices = SliceWriter::create(&parts).unwrap();
    draw_corners(&mut slices, 0);
    slices.finish().unwrap();
    let mut slices = SliceWriter::resume(&parts, Some(0)).unwrap();
    draw_corners(&mut slices, 1);
    // What somebody has removed or put in its place is left alone.
    slices.finish().unwrap();
    for name in [first.as_str(), &second, "slices.json"] {
        let [a, b] = [&whole, &parts].map(|run| fs::read(run.join(name)).unwrap());
        assert!(a == b, "{name}");
    }
    let mut slices = SliceWriter::resume(&parts, Some(0)).unwrap();
    fs::write(parts.join(&first), "no picture").unwrap();
    draw_corners(&mut slices, 1);
    slices.finish().unwrap();
    assert_eq!(fs::read_to_string(parts.join(&first)).unwrap(), "no picture");
}

#[test]
fn a_report_has_one_scale_a_plane_with_units_coordinates_and_axes_also_of_a_run_that_was_killed() {
    let run = made_up_run([16, 16, 16]);
    fs::remove_dir_all(run.path().join("slices")).unwrap();
    let mut slices = SliceWriter::create(&run.path().join("slices")).unwrap();
    draw_corners(&mut slices, 0);
    draw_corners(&mut slices, 1);
    write_report(run.path(), &mut |_| Ok(())).unwrap();
    let page = fs::read_to_string(run.path().join("report.html")).unwrap();
    for part in [
        "<h3>Plane yz at x = 1.5</h3>",
        "<div>vorticity magnitude, in V₀/L: 0 to 4</div>",
        // Of the scale from 0 to 4, and of the axes from -0.5 to 6.5.
        "<span style=\"left: 25.00%\">1</span>",
        "<b>y / L</b><span style=\"left: 7.14%\">0</span>",
        "<b>z / L</b><span style=\"bottom: 7.14%\">0</span>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("class=\"bar\"").count(), 1);
    // What the end of the run makes of its files is what the page of a killed one shows.
    slices.finish().unwrap();
    write_report(run.path(), &mut |_| Ok(())).unwrap();
    assert!(page == fs::read_to_string(run.path().join("report.html")).unwrap());
}
