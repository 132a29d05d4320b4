"use strict";
// A flow computed in the page.
const [ONE, TWO, THREE] = ["#0b62a4", "#c2410c", "#047857"];
const SIGNED = ["vorticity", "dilatation"];
const STATE = ["step", "time", "dt", "kinetic_energy", "enstrophy", "max_mach", "min_density", "error_l2"];
const ROUND_OFF = 1e-17;
// Milliseconds of computation per picture.
const FRAME_TIME = 30;

const energy = new Chart("energy", { label: "t", min: 0, max: 1 }, { label: "", min: 0, max: 1 });
const invariants = new Chart("invariants", { label: "t", min: 0, max: 1 }, { label: "", min: ROUND_OFF, max: 1, log: true });
let flow = null; // The current flow: { settings, points, size, columns, rows }
let running = false;
let steps = 1;
let scale = null;

function prepare() {
  const { schemes, integrators } = kolmo.ask({ about: "choices" });
  const fields = $("choices").elements;
  page.fill(fields.scheme, schemes.map((one) => one.name), "compact6");
  page.fill(fields.integrator, integrators.map((one) => one.name), "hale64");
}

// Returns the `--set` options of the fields.
function changes(values) {
  const n = whole(values, "points", "points");
  const own = [
    `grid.points=[${n},${n},1]`,
    `scheme.derivative="${values.scheme}"`,
    `scheme.convection="${values.convection}"`,
    `scheme.energy="${values.energy}"`,
    `scheme.filter=${values.filter === "none" ? '"none"' : values.filter}`,
    `time.integrator="${values.integrator}"`,
    `time.cfl=${number(values, "cfl", "cfl")}`,
  ];
  const more = values.more.split("\n").map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
  // Typed keys override the fields; a typed step overrides `cfl`.
  const keys = more.map((line) => line.split("=")[0].trim());
  if (keys.includes("time.dt")) keys.push("time.cfl");
  return [...own.filter((line) => !keys.includes(line.split("=")[0])), ...more];
}

function show(values) {
  const settings = JSON.stringify([values.case, changes(values)]);
  if (flow && flow.settings === settings) {
    scale = null;
    draw();
    return;
  }
  start(values);
}

function start(values) {
  const set = changes(values);
  flow = null;
  const result = kolmo.ask({ about: "start", case: values.case, set });
  flow = { settings: JSON.stringify([values.case, set]), ...result, rows: [result.row] };
  [steps, scale] = [1, null];
  $("command").textContent = `kolmo run ${values.case} ` + set.map((one) => `--set '${one.replaceAll("'", "'\\''")}'`).join(" ");
  document.body.dataset.flow = flow.settings;
  draw();
}

const column = (name) => {
  const at = flow.columns.indexOf(name);
  return at < 0 ? null : flow.rows.map((row) => row[at]);
};

function draw() {
  const name = $("choices").elements.field.value;
  const { len, low, high } = kolmo.ask({ about: "picture", variable: name });
  const signed = SIGNED.includes(name);
  const size = Math.max(Math.abs(low), Math.abs(high));
  // The colour scale starts with the first picture and grows with the field.
  scale = signed ? [Math.min(-size, scale?.[0] ?? 0), Math.max(size, scale?.[1] ?? 0)] : [Math.min(low, scale?.[0] ?? low), Math.max(high, scale?.[1] ?? high)];
  const values = kolmo.picture(len);
  const [width, height] = flow.size;
  const canvas = $("field");
  field.draw(canvas, values, flow.points, scale, signed);
  canvas.style.aspectRatio = `${width} / ${height}`;
  $("what").textContent = `${name}${name === "vorticity" ? " (along z)" : ""}, t = ${digits(flow.rows.at(-1)[1])}`;
  $("scale").textContent = `colours from ${digits(scale[0])} to ${digits(scale[1])}; now ${digits(low)} to ${digits(high)}`;
  curves();
}

function curves() {
  const time = column("time");
  energy.x.max = invariants.x.max = time.at(-1) || 1;
  const kinetic = column("kinetic_energy");
  const top = Math.max(...kinetic);
  Object.assign(energy.y, { min: 0, max: top > 0 ? 1.1 * top : 1 });
  energy.show([{ name: "⟨½ρu²⟩", color: ONE, x: time, y: kinetic }]);
  const change = (name) => {
    const values = column(name);
    return values.map((value) => Math.max(ROUND_OFF, Math.abs(value / values[0] - 1)));
  };
  invariants.show([
    { name: "mass", color: THREE, x: time, y: change("mass") },
    { name: "total energy", color: TWO, x: time, y: change("total_energy") },
  ]);
  const row = flow.rows.at(-1);
  const known = STATE.filter((name) => flow.columns.includes(name));
  const cells = (kind, texts) => texts.map((text) => Object.assign(document.createElement(kind), { textContent: text }));
  const heads = document.createElement("tr");
  heads.append(...cells("th", known.map((name) => name.replaceAll("_", " "))));
  $("heads").replaceChildren(heads);
  $("state").replaceChildren(...cells("td", known.map((name) => digits(row[flow.columns.indexOf(name)], 6))));
  document.body.dataset.row = JSON.stringify(Object.fromEntries(flow.columns.map((name, at) => [name, row[at]])));
}

function advance(count) {
  flow.rows.push(kolmo.ask({ about: "advance", steps: count, until: null }).row);
  // Curves need no more points than the screen has pixels.
  if (flow.rows.length > 2000) flow.rows = flow.rows.filter((_, at) => at % 2 === 0 || at === flow.rows.length - 1);
  draw();
}

function run(enabled) {
  running = enabled && flow !== null;
  $("run").textContent = running ? "Pause" : "Run";
  if (running) requestAnimationFrame(frame);
}

function frame() {
  if (!running) return;
  if (!flow) return run(false);
  try {
    const start = performance.now();
    advance(steps);
    const elapsed = performance.now() - start;
    steps = Math.max(1, Math.min(200, Math.round((steps * FRAME_TIME) / Math.max(elapsed, 1))));
    requestAnimationFrame(frame);
  } catch (error) {
    stopWithError(error);
  }
}

function stopWithError(error) {
  run(false);
  page.showError(error.message);
}

$("run").addEventListener("click", () => run(!running));
$("once").addEventListener("click", () => {
  run(false);
  try {
    if (flow) advance(1);
  } catch (error) {
    stopWithError(error);
  }
});
$("restart").addEventListener("click", () => {
  run(false);
  try {
    start(page.values());
    page.showError("");
  } catch (error) {
    stopWithError(error);
  }
});
page.begin(prepare, show);
