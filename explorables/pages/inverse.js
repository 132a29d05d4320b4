"use strict";
// The rows of the inverse, and the error of truncating them.
const row = new Chart("row", { label: "j", min: 0, max: 63 }, { label: "entry", min: -1, max: 1.5 });
const decay = new Chart("decay", { label: "|i−j|", min: 0, max: 40 }, { label: "largest entry", min: 1e-17, max: 10, log: true });
const cost = new Chart("cost", { label: "kh", min: 0, max: Math.PI }, { label: "error / k", min: 1e-17, max: 10, log: true });

// The power of ten above the largest of these.
const decade = (values) => 10 ** Math.ceil(Math.log10(Math.max(...values)));

function show(values) {
  lines.closures();
  const free = values.scheme === FREE;
  page.enable("alpha", free);
  const points = whole(values, "points", "points");
  const keep = whole(values, "keep", "entries kept");
  const own = whole(values, "row", "row");
  page.limit("row", points - 1);
  const alpha = free ? number(values, "alpha", "α") : null;
  const told = kolmo.ask({
    about: "inverse",
    line: { scheme: free ? "compact6" : values.scheme, alpha, closure: lines.closure(), points },
    row: own,
    keep,
  });
  const at = told.row.map((_, j) => j);
  row.x.max = points - 1;
  const size = Math.max(...told.row.map(Math.abs));
  Object.assign(row.y, { min: -1.1 * size, max: 1.1 * size });
  const inside = (pen, chart) => {
    const [from, to] = [own - keep - 0.5, own + keep + 0.5].map((j) => chart.place(chart.x, j));
    pen.fillStyle = "#e3f1ea";
    pen.fillRect(from, 0, to - from, chart.box.clientHeight);
  };
  row.show([
    { name: "entry", color: ONE, x: at, y: told.row },
    { color: ONE, dots: 2.5, x: at, y: told.row },
    { name: "kept", color: "#9ccfb5", x: [], y: [] },
  ], inside);
  const distance = told.of_all.map((_, d) => d);
  const line = told.ratio === null ? [] : [{
    name: "formula", color: "#5b6875", dash: [5, 4], width: 1.5, x: distance, y: distance.map((d) => told.diagonal * told.ratio ** d),
  }];
  decay.x.max = Math.min(points - 1, 80);
  decay.y.max = decade(told.of_all);
  decay.show([
    { name: "all rows", color: TWO, x: distance, y: told.of_all },
    { name: "row i", color: ONE, x: distance, y: told.of_row },
    ...line,
  ]);
  cost.y.max = decade([...told.cut, ...told.own]);
  cost.show([{ name: "truncation", color: TWO, x: told.w, y: told.cut }, { name: "the scheme", color: ONE, x: told.w, y: told.own }]);
  table("numbers", [
    ["r", told.ratio === null ? "–" : digits(told.ratio, 6)],
    ["1/√(1 − 4α²)", told.diagonal === null ? "–" : digits(told.diagonal, 6)],
    ["reach, 1e-4 of the largest", told.reach[0]],
    ["reach, 1e-8 of the largest", told.reach[1]],
    ["reach, 1e-12 of the largest", told.reach[2]],
    ["reach, 2e-16 of the largest", told.reach[3]],
    ["block for “neighbour”", told.block],
    ["largest truncation", digits(Math.max(...told.cut), 4)],
  ]);
}

page.begin(() => lines.prepare([FREE]), show);
