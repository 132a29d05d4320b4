//! The data in a report page that its scripts use.

use super::slices::draw_corners;
use super::*;

/// The data of a plot in a page.
fn curves(page: &str, name: &str) -> serde_json::Value {
    let figure = page.split_once(&format!("id=\"plot-{name}\"")).unwrap().1;
    let data = figure.split_once("<script type=\"application/json\">").unwrap().1;
    serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn report_plots_contain_the_curves_of_the_series() {
    let run = synthetic_run([16, 16, 16]);
    write_report(run.path(), &mut |_| Ok(())).unwrap();
    let page = fs::read_to_string(run.path().join("report.html")).unwrap();
    let series = Series::read(&run.path().join("series.csv")).unwrap();
    for (name, label, column) in [
        ("kinetic_energy", "this run", "kinetic_energy"),
        ("dissipation", "from gradients", "dissipation"),
        ("budget", "dE/dt", "ke_rate"),
    ] {
        let data = curves(&page, name);
        assert_eq!(data["curves"][0]["label"], label);
        let shown: Vec<f64> = serde_json::from_value(data["curves"][0]["y"].clone()).unwrap();
        let times: Vec<f64> = serde_json::from_value(data["x"][0].clone()).unwrap();
        let written = series.column(column).unwrap().iter().zip(series.column("time").unwrap());
        assert_eq!(shown.len(), series.rows());
        for ((value, time), (exact, at)) in shown.iter().zip(&times).zip(written) {
            assert!(
                (value - exact).abs() <= 5e-9 * exact.abs() && (time - at).abs() <= 5e-9 * at.abs()
            );
        }
    }
    // Required by the licence of the plotting library.
    assert!(page.contains("uPlot (v1.6.32)") && page.contains("Copyright (c) 2022 Leon Sorokin"));
}

/// Images of many times would make the page too large to send: the slider has all images up to a limit, and the printed page six.
#[test]
fn the_report_slider_has_up_to_60_images_and_the_printed_page_six() {
    for (steps, under, text) in [
        (6, 6, "<p>In a plane"),
        (9, 9, "<p>9 of 9 times under the slider, 6 on paper; all are in"),
        (70, 60, "<p>60 of 70 times under the slider, 6 on paper; all are in"),
    ] {
        let run = synthetic_run([16, 16, 16]);
        fs::remove_dir_all(run.path().join("slices")).unwrap();
        let mut slices = SliceWriter::create(&run.path().join("slices")).unwrap();
        (0..steps).for_each(|step| draw_corners(&mut slices, step));
        write_report(run.path(), &mut |_| Ok(())).unwrap();
        let page = fs::read_to_string(run.path().join("report.html")).unwrap();
        assert!(page.contains(text), "{steps}");
        assert_eq!(page.matches("data-step=").count(), under, "{steps}");
        assert_eq!(page.matches("<figure class=\"extra\"").count(), under - 6, "{steps}");
    }
}
