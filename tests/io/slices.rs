//! Slice images and their colour scales.

use super::*;

#[test]
fn slice_images_are_upright_and_show_nan_in_grey() {
    let run = tempfile::tempdir().unwrap();
    let path = run.path().join("slice.png");
    // 3 × 2 points: the lower left value is the smallest, the upper right the largest, the lower right is NaN.
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

/// Pixels are square although the spacings of the axes differ. A side has at least as many pixels as points, except in images of more
/// than 2^20 pixels.
#[test]
fn slice_images_are_to_scale_up_to_an_aspect_ratio_of_eight() {
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

/// Palette and pixels of an image.
fn indexed(path: &Path) -> (Vec<[u8; 3]>, Vec<u8>) {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let palette = reader.info().palette.as_ref().unwrap();
    (palette.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(), pixels)
}

/// Writes a slice of 2 × 2 points, with values from 0 to 2 at step 0 and from 0 to 4 at later steps.
pub(super) fn draw_corners(slices: &mut SliceWriter, step: u64) {
    let max = [2.0, 4.0][usize::from(step > 0)];
    let slice = Slice {
        plane: Plane::Yz,
        at: 1.5,
        quantity: "vorticity magnitude",
        unit: "V₀/L",
        edges: [[-0.5, 6.5]; 2],
        points: [2, 2],
        values: &[0.0, max / 2.0, max, max / 4.0],
        range: [0.0, max],
    };
    slices.write(step, step as f64, &slice).unwrap();
}

#[test]
fn slices_of_a_plane_share_one_colour_scale_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let [reference, restarted] = ["whole", "parts"].map(|name| dir.path().join(name));
    let [first, second] = [0, 1].map(|step| format!("step_{step:08}_yz.png"));
    let mut slices = SliceWriter::create(&reference).unwrap();
    draw_corners(&mut slices, 0);
    let (_, before) = indexed(&reference.join(&first));
    draw_corners(&mut slices, 1);
    slices.finish().unwrap();
    let (low, pixels) = indexed(&reference.join(&first));
    let (high, other_pixels) = indexed(&reference.join(&second));
    // The pixels are the same at both steps, since the field has the same shape. The value 2 has one colour: index 254 in the first
    // palette, index 127 in the second.
    assert!(pixels == before && pixels == other_pixels);
    assert_eq!((low[254], low[0], low[255]), (high[127], high[0], high[255]));
    assert_ne!(low[254], high[254]);

    let mut slices = SliceWriter::create(&restarted).unwrap();
    draw_corners(&mut slices, 0);
    slices.finish().unwrap();
    let mut slices = SliceWriter::resume(&restarted, Some(0)).unwrap();
    draw_corners(&mut slices, 1);
    // Files that a user has removed or replaced are not changed.
    slices.finish().unwrap();
    for name in [first.as_str(), &second, "slices.json"] {
        let [a, b] = [&reference, &restarted].map(|run| fs::read(run.join(name)).unwrap());
        assert!(a == b, "{name}");
    }
    let mut slices = SliceWriter::resume(&restarted, Some(0)).unwrap();
    fs::write(restarted.join(&first), "no picture").unwrap();
    draw_corners(&mut slices, 1);
    slices.finish().unwrap();
    assert_eq!(fs::read_to_string(restarted.join(&first)).unwrap(), "no picture");
}

#[test]
fn a_report_has_one_labelled_scale_per_plane_also_for_a_killed_run() {
    let run = synthetic_run([16, 16, 16]);
    fs::remove_dir_all(run.path().join("slices")).unwrap();
    let mut slices = SliceWriter::create(&run.path().join("slices")).unwrap();
    draw_corners(&mut slices, 0);
    draw_corners(&mut slices, 1);
    write_report(run.path(), &mut |_| Ok(())).unwrap();
    let page = fs::read_to_string(run.path().join("report.html")).unwrap();
    for part in [
        "<h3>Plane yz at x = 1.5</h3>",
        "<div>vorticity magnitude, in V₀/L: 0 to 4</div>",
        // Tick labels of the scale from 0 to 4 and of the axes from -0.5 to 6.5.
        "<span style=\"left: 25.00%\">1</span>",
        "<b>y / L</b><span style=\"left: 7.14%\">0</span>",
        "<b>z / L</b><span style=\"bottom: 7.14%\">0</span>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("class=\"bar\"").count(), 1);
    // The report of a killed run equals that of the finished run, which rescales its images at the end.
    slices.finish().unwrap();
    write_report(run.path(), &mut |_| Ok(())).unwrap();
    assert!(page == fs::read_to_string(run.path().join("report.html")).unwrap());
}
