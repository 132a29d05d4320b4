"use strict";
// Modified wavenumbers, and the stability of a time step.
const PERIODIC = "periodic";
const [ONE, TWO, THREE] = ["#0b62a4", "#c2410c", "#047857"];
let choices, symbols, shown;

const first = new Chart("first", { label: "kh", min: 0, max: Math.PI }, { label: "k′h", min: 0, max: Math.PI });
const errorChart = new Chart("relative-error", { label: "kh", min: 0.05, max: Math.PI, log: true }, { label: "|k′/k − 1|", min: 1e-12, max: 1, log: true });
const plane = new Chart("plane", { label: "Re z", min: -1, max: 1 }, { label: "Im z", min: -1, max: 1 }, { plane: true });
const step = new Chart("step", { label: "kh", min: 0, max: Math.PI }, { label: "", min: 0, max: 1.2 });

function prepare() {
  choices ??= kolmo.ask({ about: "choices" });
  symbols ??= kolmo.ask({ about: "symbols" });
  const fields = $("choices").elements;
  page.fill(fields.scheme, choices.schemes.map((one) => one.name), "compact6");
  page.fill(fields.integrator, choices.integrators.map((one) => one.name), "rk4");
  closures(fields.scheme.value);
}

function closures(scheme) {
  const { closures } = choices.schemes.find((one) => one.name === scheme);
  page.fill($("choices").elements.closure, [PERIODIC, ...closures], PERIODIC);
}

function show(values) {
  closures(values.scheme);
  page.enable("alpha", values.filtered);
  const closure = $("choices").elements.closure.value;
  shown = kolmo.ask({
    about: "stability",
    scheme: values.scheme,
    integrator: values.integrator,
    courant: number(values, "courant", "the step"),
    diffusion: number(values, "diffusion", "the diffusion"),
    points: whole(values, "points", "points"),
    closure: closure === PERIODIC ? null : closure,
    filter: values.filtered ? number(values, "alpha", "α") : null,
  });
  drawSymbols(values.scheme);
  drawStep();
  numbers(values.scheme);
}

function drawSymbols(name) {
  const { w, families } = symbols;
  const error = (one) => one.first.map((k, i) => (w[i] ? Math.abs(k / w[i] - 1) : null));
  const own = families.find((one) => one.name === name);
  const grey = { color: "#cdd4da", width: 1 };
  const others = families.filter((one) => one !== own);
  first.show([
    ...others.map((one) => ({ ...grey, x: w, y: one.first })),
    { name: "exact", color: "#5b6875", dash: [5, 4], width: 1.5, x: w, y: w },
    { name, color: ONE, x: w, y: own.first },
  ]);
  errorChart.show([...others.map((one) => ({ ...grey, x: w, y: error(one) })), { name, color: ONE, x: w, y: error(own) }]);
}

function drawStep() {
  const { region, real, imaginary, eigenvalues, w, amplitude, phase, stable } = shown;
  [plane.x.min, plane.x.max] = real;
  [plane.y.min, plane.y.max] = imaginary;
  const drawRegion = (pen, chart) => {
    pen.fillStyle = "#d6e7f5";
    const height = Math.abs(chart.place(chart.y, region[1][0]) - chart.place(chart.y, region[0][0])) + 0.6;
    for (const [y, ...ends] of region) {
      for (let i = 0; i + 1 < ends.length; i += 2) {
        const [from, to] = [chart.place(chart.x, ends[i]), chart.place(chart.x, ends[i + 1])];
        pen.fillRect(from, chart.place(chart.y, y) - height / 2, to - from, height);
      }
    }
  };
  plane.show([
    { name: "|R(z)| ≤ 1", color: "#9cc4e4", x: [], y: [] },
    { name: stable ? "z = λ dt, all inside" : "z = λ dt, some outside", color: stable ? THREE : TWO, dots: 3, x: eigenvalues.map((z) => z[0]), y: eigenvalues.map((z) => z[1]) },
  ], drawRegion);
  step.show([
    { name: "amplitude", color: ONE, x: w, y: amplitude },
    { name: "speed / exact speed", color: TWO, x: w, y: phase },
    { color: "#5b6875", dash: [5, 4], width: 1, x: [0, Math.PI], y: [1, 1] },
  ]);
}

function numbers(name) {
  const { largest, stable, bound, found, rightmost, imaginary_limit, real_limit } = shown;
  const own = symbols.families.find((one) => one.name === name);
  const rows = [
    ["this step", stable ? "stable" : "unstable", stable ? "good" : "bad"],
    ["largest |R|", digits(largest, 6)],
    ["c dt/h, bound", digits(bound, 6)],
    ["c dt/h, found", found < 1e-6 ? "none" : digits(found, 6)],
    ["limit, imaginary", digits(imaginary_limit, 6)],
    ["limit, real", digits(-real_limit, 6)],
    ["largest k′h", digits(own.largest[0], 6)],
    ["largest k″h²", digits(own.largest[1], 6)],
    ["rightmost λh/c", digits(rightmost, 4)],
    ["kh/π within 1 %", digits(own.resolved[1], 4)],
  ];
  $("numbers").replaceChildren(...rows.map(([what, value, mark]) => {
    const row = document.createElement("tr");
    const cells = [what, value].map((text) => Object.assign(document.createElement("td"), { textContent: text }));
    if (mark) cells[1].className = mark;
    row.append(...cells);
    return row;
  }));
}

$("limit").addEventListener("click", () => {
  const field = $("choices").elements.courant;
  field.value = Math.floor(shown.bound * 1e4) / 1e4;
  field.dispatchEvent(new Event("input", { bubbles: true }));
});

page.begin(prepare, show);
