//! A plot as JSON, from which the page redraws it with values at the cursor, zoom and logarithmic axes.

use serde::Serialize;

use super::plot::{Curve, Line, Plot, Point, drawable, thinned};
use super::progress::visible;
use super::scale::{Scale, extremes};

/// Maximum number of points per curve: more make pages heavy.
const MAX_POINTS: usize = 4000;
/// Maximum number of slider times of a plot.
const MAX_FRAMES: usize = 40;

#[derive(Serialize)]
struct PlotData {
    title: String,
    labels: [String; 2],
    /// Whether x and y are initially logarithmic.
    logarithmic: [bool; 2],
    /// Abscissas; several curves may share them.
    x: Vec<Vec<f64>>,
    curves: Vec<CurveData>,
    frames: Vec<Frame>,
}

#[derive(Serialize)]
struct CurveData {
    label: String,
    colour: &'static str,
    width: u32,
    dashes: Vec<u32>,
    /// `line`, `dotted line`, `circles`, `few circles`, `level`.
    kind: &'static str,
    /// Index of the abscissas.
    x: usize,
    /// `None` is a non-finite value.
    y: Vec<Option<f64>>,
}

/// Curves at one time of the slider, in addition to the permanent curves.
#[derive(Serialize)]
struct Frame {
    time: f64,
    curves: Vec<CurveData>,
}

impl Plot {
    /// The curves as JSON that may stand in HTML. Non-finite values are `null`, and long curves are thinned to the smallest and
    /// the largest value of each interval.
    pub(crate) fn data(&self) -> String {
        let mut x = Vec::new();
        let mut curves: Vec<CurveData> =
            self.curves.iter().map(|curve| curve_data(curve, &mut x)).collect();
        if let Some((value, label)) = &self.mark {
            let ends = extremes(x.iter().flatten().copied());
            let points =
                if ends[0] <= ends[1] { ends.map(|x| (x, *value)).to_vec() } else { Vec::new() };
            curves.push(curve_data(
                &Curve { label: label.clone(), line: Line::Level, points },
                &mut x,
            ));
        }
        let of_frame = |(time, curves): &(f64, Vec<Curve>)| Frame {
            time: *time,
            curves: curves.iter().map(|curve| curve_data(curve, &mut x)).collect(),
        };
        let frames = evenly_spaced(&self.frames, MAX_FRAMES).into_iter().map(of_frame).collect();
        let values = self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.1);
        let values = values.chain(self.mark.iter().map(|mark| mark.0)).filter(|y| y.is_finite());
        let scale = Scale::of(values, self.logarithmic, self.logarithmic_x);
        let data = PlotData {
            title: visible(&self.title),
            labels: [self.x_label, &self.y_label].map(visible),
            logarithmic: [self.logarithmic_x, scale == Scale::Logarithm],
            x,
            curves,
            frames,
        };
        json_in_html(&data)
    }
}

fn curve_data(curve: &Curve, abscissas: &mut Vec<Vec<f64>>) -> CurveData {
    let mut points: Vec<Point> = curve.points.clone();
    points.retain(|point| drawable(point.0));
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (x, y): (Vec<f64>, Vec<f64>) = thinned(points, MAX_POINTS).into_iter().unzip();
    let x: Vec<f64> = x.into_iter().map(rounded).collect();
    let existing = abscissas.iter().position(|known| *known == x);
    let at = existing.unwrap_or_else(|| {
        abscissas.push(x);
        abscissas.len() - 1
    });
    let (colour, width, dashes) = curve.line.stroke();
    CurveData {
        label: visible(&curve.label),
        colour,
        width,
        dashes: dashes.split(' ').filter_map(|dash| dash.parse().ok()).collect(),
        kind: curve.line.kind(),
        x: at,
        y: y.into_iter().map(|y| drawable(y).then(|| rounded(y))).collect(),
    }
}

/// Nine digits: more than can be read off a page, and far fewer than on disk.
fn rounded(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

/// JSON in which no `<` can end the surrounding HTML element.
pub(super) fn json_in_html(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value);
    text.unwrap_or_else(|_| unreachable!("numbers and words have a JSON")).replace('<', "\\u003c")
}

/// At most `max` items, evenly spaced, including the first and the last.
pub(super) fn evenly_spaced<T>(all: &[T], max: usize) -> Vec<&T> {
    let count = all.len().min(max);
    (0..count).map(|k| &all[k * (all.len() - 1) / (count - 1).max(1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(plot: &Plot) -> serde_json::Value {
        serde_json::from_str(&plot.data()).unwrap()
    }

    #[test]
    fn curves_share_equal_times_and_non_finite_values_are_null() {
        let time = [0.0, 0.5, f64::NAN, 1.0];
        let one =
            Curve::new("a </script>", Line::Solid, &time, &[1.0, f64::NAN, 2.0, f64::INFINITY]);
        let two = Curve::new("b", Line::Reference, &time, &[0.1 + 0.2, 1e-300, 2.0, -1.0 / 3.0]);
        let plot = Plot::over_time("title", "y", vec![one, two]);
        assert!(!plot.data().contains('<'));
        let data = data(&plot);
        assert_eq!(data["x"], serde_json::json!([[0.0, 0.5, 1.0]]));
        assert_eq!(data["curves"][0]["label"], "a </script>");
        assert_eq!(data["curves"][0]["y"], serde_json::json!([1.0, null, null]));
        assert_eq!(data["curves"][1]["y"], serde_json::json!([0.3, 1e-300, -0.333333333]));
        assert_eq!(data["curves"][1]["kind"], "few circles");
    }

    #[test]
    fn mark_spans_the_plot_and_is_empty_in_an_empty_plot() {
        let curve = Curve::new("a", Line::Solid, &[1.0, 3.0], &[1e-4, 1.0]);
        let mark = Some((2.0, "enough".to_string()));
        let plot = Plot {
            mark: mark.clone(),
            logarithmic: true,
            ..Plot::over_time("t", "y", vec![curve])
        };
        let found = data(&plot);
        assert_eq!(found["curves"][1]["y"], serde_json::json!([2.0, 2.0]));
        assert_eq!(found["logarithmic"], serde_json::json!([false, true]));
        let empty = Plot {
            mark,
            ..Plot::over_time("t", "y", vec![Curve::new("a", Line::Solid, &[], &[])])
        };
        assert_eq!(data(&empty)["curves"][1]["y"], serde_json::json!([]));
    }

    #[test]
    fn thinning_keeps_ends_peaks_and_gaps() {
        let mut points: Vec<Point> =
            (0..100_000).map(|i| (f64::from(i), (0.01 * f64::from(i)).sin())).collect();
        (points[12_345].1, points[54_321].1, points[77_777].1) = (9.0, -9.0, f64::NAN);
        let curve = Curve { label: "a".into(), line: Line::Solid, points };
        let data = data(&Plot::over_time("t", "y", vec![curve]));
        let (x, y) = (data["x"][0].as_array().unwrap(), data["curves"][0]["y"].as_array().unwrap());
        assert!(x.len() == y.len() && (MAX_POINTS / 2..=MAX_POINTS + 2).contains(&x.len()));
        let at = |time: f64| &y[x.iter().position(|x| x.as_f64() == Some(time)).unwrap()];
        assert_eq!((at(12_345.0).as_f64(), at(54_321.0).as_f64()), (Some(9.0), Some(-9.0)));
        assert!(at(77_777.0).is_null() && at(0.0).is_number() && at(99_999.0).is_number());
    }
}
