"use strict";
// The rows of the inverse, and the error of truncating them.
const row = new Chart("row", { label: "j", min: 0, max: 63 }, { label: "entry", min: -1, max: 1.5 });
const decay = new Chart("decay", { label: "|i−j|", min: 0, max: 40 }, { label: "largest entry", min: 1e-17, max: 10, log: true });
const cost = new Chart("cost", { label: "kh", min: 0, max: Math.PI }, { label: "error / k", min: 1e-17, max: 10, log: true });

// Returns the smallest power of ten that is not below any of the values.
const decade = (values) => 10 ** Math.ceil(Math.log10(Math.max(...values)));

function show(values) {
  lines.closures();
  const free = values.scheme === FREE;
  page.enable("alpha", free);
  const points = whole(values, "points", "points");
  const keep = whole(values, "keep", "entries kept");
  const selected = whole(values, "row", "row");
  page.limit("row", points - 1);
  const alpha = free ? number(values, "alpha", "α") : null;
  const result = kolmo.ask({
    about: "inverse",
    line: { scheme: free ? "compact6" : values.scheme, alpha, closure: lines.closure(), points },
    row: selected,
    keep,
  });
  const at = result.row.map((_, j) => j);
  row.x.max = points - 1;
  const size = Math.max(...result.row.map(Math.abs));
  Object.assign(row.y, { min: -1.1 * size, max: 1.1 * size });
  const drawKept = (pen, chart) => {
    const [from, to] = [selected - keep - 0.5, selected + keep + 0.5].map((j) => chart.place(chart.x, j));
    pen.fillStyle = "#e3f1ea";
    pen.fillRect(from, 0, to - from, chart.box.clientHeight);
  };
  row.show([
    { name: "entry", color: ONE, x: at, y: result.row },
    { color: ONE, dots: 2.5, x: at, y: result.row },
    { name: "kept", color: "#9ccfb5", x: [], y: [] },
  ], drawKept);
  const distance = result.of_all.map((_, d) => d);
  const line = result.ratio === null ? [] : [{
    name: "formula", color: "#5b6875", dash: [5, 4], width: 1.5, x: distance, y: distance.map((d) => result.diagonal * result.ratio ** d),
  }];
  decay.x.max = Math.min(points - 1, 80);
  decay.y.max = decade(result.of_all);
  decay.show([
    { name: "all rows", color: TWO, x: distance, y: result.of_all },
    { name: "row i", color: ONE, x: distance, y: result.of_row },
    ...line,
  ]);
  cost.y.max = decade([...result.cut, ...result.own]);
  cost.show([{ name: "truncation", color: TWO, x: result.w, y: result.cut }, { name: "the scheme", color: ONE, x: result.w, y: result.own }]);
  table("numbers", [
    ["r", result.ratio === null ? "–" : digits(result.ratio, 6)],
    ["1/√(1 − 4α²)", result.diagonal === null ? "–" : digits(result.diagonal, 6)],
    ["reach, 1e-4 of the largest", result.reach[0]],
    ["reach, 1e-8 of the largest", result.reach[1]],
    ["reach, 1e-12 of the largest", result.reach[2]],
    ["reach, 2e-16 of the largest", result.reach[3]],
    ["block for “neighbour”", result.block],
    ["largest truncation", digits(Math.max(...result.cut), 4)],
  ]);
}

page.begin(() => lines.prepare([FREE]), show);
