//! Senders and receivers in parallel cyclic reduction: figures 2 and 7 of Song et al. 2022, from the rounds that ranks run.

use super::finding::{Csv, Finding};
use super::lab::Lab;
use crate::engine::distributed::pcr::{Phase, Round, schedule};
use crate::error::Result;

/// Distances between rows and between rounds in pixels.
const SPACING: [f64; 2] = [54.0, 78.0];
const LEFT: f64 = 130.0;
const TOP: f64 = 70.0;
const RADIUS: f64 = 15.0;
/// Colours of subsystems, distinguishable with colour blindness (Okabe and Ito 2008).
const COLOURS: [&str; 8] =
    ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#999999"];

/// One round of all rows: the row of every rank before and after it.
struct Level {
    phase: Phase,
    stride: usize,
    attached: usize,
    /// (from, to).
    messages: Vec<(usize, usize)>,
}

/// The rounds of the reduction, without the exchanges with neighbours before and after it.
fn levels(rows: usize, cyclic: bool) -> Vec<Level> {
    let of_rank: Vec<Vec<Round>> = (0..rows).map(|rank| schedule(rows, rank, cyclic)).collect();
    let is_inside = |round: &Round| !matches!(round.phase, Phase::Tail | Phase::Head);
    let level = |at: usize| {
        let Round { phase, stride, attached, .. } = of_rank[0][at];
        let sends = |(rank, rounds): (usize, &Vec<Round>)| {
            rounds[at].sends.iter().map(move |to| (rank, *to)).collect::<Vec<_>>()
        };
        let messages = of_rank.iter().enumerate().flat_map(sends).collect();
        Level { phase, stride, attached, messages }
    };
    let inside = of_rank[0].iter().enumerate().filter(|(_, round)| is_inside(round));
    inside.map(|(at, _)| level(at)).collect()
}

fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Tail => "tail",
        Phase::Detach => "detach",
        Phase::Reduce => "reduce",
        Phase::Reattach => "reattach",
        Phase::Head => "head",
    }
}

/// The pattern for `rows` rows.
fn pattern(rows: usize, cyclic: bool, title: &str) -> (Csv, String, Vec<Level>) {
    let levels = levels(rows, cyclic);
    let mut csv = Csv::new("round,phase,stride,attached,from,to");
    for (round, level) in levels.iter().enumerate() {
        for (from, to) in &level.messages {
            let (phase, stride, attached) = (name(level.phase), level.stride, level.attached);
            csv.row([&(round + 1), &phase, &stride, &attached, &(from + 1), &(to + 1)]);
        }
    }
    let svg = diagram(rows, &levels, title);
    (csv, svg, levels)
}

/// Rows as circles, one line of them before and after every round, in the colour of their subsystem; arrows are messages. A
/// detached row is grey.
fn diagram(rows: usize, levels: &[Level], title: &str) -> String {
    let x = |row: usize| LEFT + SPACING[0] * row as f64;
    let y = |line: usize| TOP + SPACING[1] * line as f64;
    let (width, height) = (x(rows - 1) + 40.0, y(levels.len()) + 40.0);
    let mut svg = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" \
         font-family=\"sans-serif\" font-size=\"14\" fill=\"#1A1A1A\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"17\" font-weight=\"bold\">{title}</text>\n"
    );
    for (line, level) in levels.iter().enumerate() {
        let (top, bottom) = (y(line), y(line + 1));
        let (middle, phase, stride) = ((top + bottom) / 2.0 + 5.0, name(level.phase), level.stride);
        svg += &format!("<text x=\"12\" y=\"{middle:.1}\">{phase} {stride}</text>\n");
        let mut draw = |from: usize, to: usize, stroke: &str| {
            let (from, to) = (x(from), x(to));
            svg += &format!(
                "<line x1=\"{from:.1}\" y1=\"{top:.1}\" x2=\"{to:.1}\" y2=\"{bottom:.1}\" stroke={stroke}/>\n"
            );
        };
        (0..rows).for_each(|row| draw(row, row, "\"#DDDDDD\""));
        for (from, to) in &level.messages {
            draw(*from, *to, "\"#1A1A1A\" stroke-opacity=\"0.55\"");
        }
    }
    let (mut systems, mut attached) = (1, rows);
    for line in 0..=levels.len() {
        if let Some(level) = line.checked_sub(1).map(|before| &levels[before]) {
            (systems, attached) = match level.phase {
                Phase::Reduce => (2 * level.stride, level.attached),
                Phase::Reattach => (level.stride, level.attached + level.stride),
                _ => (systems, level.attached),
            };
        }
        for row in 0..rows {
            let fill =
                if row < attached { COLOURS[row % systems % COLOURS.len()] } else { "#FFFFFF" };
            let ink = if row < attached && row % systems != 6 { "#FFFFFF" } else { "#1A1A1A" };
            let (x, y, below, number) = (x(row), y(line), y(line) + 5.0, row + 1);
            svg += &format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\" fill=\"{fill}\" stroke=\"#1A1A1A\"/>\n\
                 <text x=\"{x:.1}\" y=\"{below:.1}\" text-anchor=\"middle\" fill=\"{ink}\">{number}</text>\n"
            );
        }
    }
    svg + "</svg>\n"
}

/// Song et al. 2022, figure 2.
pub(super) fn figure_2(_: &Lab<'_>) -> Result<Finding> {
    let (csv, svg, levels) = pattern(8, false, "PCR of 8 rows, not cyclic");
    let messages: usize = levels.iter().map(|level| level.messages.len()).sum();
    Ok(Finding::table(csv, vec![("", svg)]).with_text(
        "Three levels of an 8 × 8 system that is not cyclic: neighbours 1, 2 and 4 rows apart, two, four and eight subsystems.",
        format!("{} rounds with {messages} messages, drawn from the schedule that ranks run for 8 blocks.", levels.len()),
        "None: the same pairs at the same levels. Circles after a round have the colour of their subsystem. Ranks have two additional \
         rounds, before and after these, which exchange interface values with neighbouring blocks.",
    ))
}

/// Song et al. 2022, figure 7.
pub(super) fn figure_7(_: &Lab<'_>) -> Result<Finding> {
    let (csv, svg, levels) = pattern(11, true, "PCR of 11 rows, cyclic");
    let count = |phase: Phase| levels.iter().filter(|level| level.phase == phase).count();
    Ok(Finding::table(csv, vec![("", svg)]).with_text(
        "An 11 × 11 cyclic system: row 11 is detached, a step of PCR leaves two systems of five rows, whose last rows 9 and 10 are detached; \
         two more steps solve eight rows; 9 and 10, then 11 follow in the back substitution (§3, figure 6).",
        format!(
            "{} rounds that detach, {} that reduce, {} that reattach, drawn from the schedule that ranks run for 11 blocks.",
            count(Phase::Detach),
            count(Phase::Reduce),
            count(Phase::Reattach)
        ),
        "None: the same rows in the same order. White rows are detached.",
    ))
}
