"use strict";
// Reductions level by level. A stage has a name, rows, edges, an explanation, the heads of a table, and its rows [row, coefficients ...].
const couplingChart = new Chart("coupling", { label: "stage", min: 0, max: 5 }, { label: "largest", min: 1e-17, max: 10, log: true });
let stages = [];

const largest = (numbers) => numbers.reduce((maximum, one) => Math.max(maximum, Math.abs(one)), 0);
const all = (count) => Array.from({ length: count }, (_, i) => i);

function cyclicStages(result) {
  if (result.cyclic === null) throw new Error("cyclic reduction is for tridiagonal matrices, and this one is pentadiagonal");
  const place = (level, r) => (r + 1) * 2 ** level - 1;
  const stageOf = (level, rows, first, table, head, explanation, name) => {
    const own = table.map((numbers, i) => [first + 2 * i, numbers]);
    const edges = own.flatMap(([r]) => [r - 1, r + 1].filter((other) => other >= 0 && other < rows).map((other) => [place(level, other), place(level, r)]));
    return {
      name, explanation, edges, head: ["row", ...head],
      rows: all(rows).map((r) => place(level, r)),
      table: own.map(([r, numbers]) => [place(level, r), ...numbers]),
      coupling: largest(table.flatMap((numbers) => numbers.slice(-2))),
    };
  };
  const down = result.cyclic.map(({ rows, forward }, level) => stageOf(level, rows, 1, forward, ["k₁", "k₂"],
    `${rows} rows ${2 ** level} apart. The neighbours of every second row are eliminated: d ← d − k₁ d(left) − k₂ d(right).`, `forward ${level}`));
  const up = result.cyclic.map(({ rows, backward }, level) => stageOf(level, rows, 0, backward, ["1/b", "a/b", "c/b"],
    "Back substitution: the other rows follow from their neighbours, x = d/b − (a/b) x(left) − (c/b) x(right).", `back ${level}`));
  const last = {
    name: "last row", rows: [2 ** result.cyclic.length - 1], edges: [], head: ["row", "1/b"], table: [[2 ** result.cyclic.length - 1, result.last]],
    explanation: "One row is left: x = d/b.", coupling: null,
  };
  return [...down, last, ...up.reverse()];
}

function parallelStages(result) {
  const offsets = result.half_band === 2 ? [-2, -1, 1, 2] : [-1, 1];
  const levels = result.parallel.map((rows, level) => {
    const stride = 2 ** level;
    const edges = rows.flatMap((k, i) => offsets.map((o, at) => [i + o * stride, i, k[at]]))
      .filter(([from, , k]) => k !== 0 && from >= 0 && from < result.rows);
    return {
      name: `stride ${stride}`, rows: all(result.rows), edges, head: ["row", ...offsets.map((o) => `k(${o > 0 ? "+" : "−"}${Math.abs(o)})`)],
      table: rows.map((k, i) => [i, ...k]), coupling: largest(rows.flat()),
      explanation: `The neighbours at distance ${stride} are eliminated from every row, which is then coupled to those at distance ${2 * stride}: d ← d − Σ k d.`,
    };
  });
  const needed = Math.ceil(Math.log2(result.rows));
  const note = levels.length < needed ? ` Here ${levels.length} of ${needed} levels suffice: the remaining couplings are below the tolerance.` : "";
  return [...levels, {
    name: "divide", rows: all(result.rows), edges: [], head: ["row", "1/b"], table: result.inverse.map((one, i) => [i, one]), coupling: null,
    explanation: `No row is coupled to another: x = d/b.${note}`,
  }];
}

const PHASES = {
  tail: "Each rank sends its last row without the unknown separators to the right neighbour.",
  detach: "An odd number of rows: the last row of each system is eliminated first, by its neighbours.",
  reduce: "The neighbours of every row are eliminated, as in parallel cyclic reduction; the row then couples to those twice as far away.",
  reattach: "Detached rows receive the solution of their neighbours.",
  head: "The separators are sent to the left neighbours; every rank can finish its block.",
};

function rankStages({ ranks, neighbour }) {
  // Parts of a plan: an exchange and the sums that follow it. The first exchange is that of the halo.
  const plans = ranks.map(({ steps }) => {
    const parts = [[]];
    for (const step of steps) {
      if ("send" in step) parts.push([step]); else parts.at(-1).push(step);
    }
    return parts;
  });
  const next = ranks.map(() => 2);
  return ranks[0].rounds.map(({ phase, stride }, at) => {
    const edges = ranks.flatMap(({ rounds }, rank) => rounds[at].sends.map((to) => [rank, to]));
    const table = [];
    let coupling = 0;
    ranks.forEach(({ rounds }, rank) => {
      const { sends, receives } = rounds[at];
      if (!sends.length && !receives.length) return;
      const [exchange, ...combinations] = plans[rank][next[rank]++] ?? [null];
      if (!exchange) return;
      const from = new Map(exchange.receive.map(({ peer, slots }) => [slots[0], peer]));
      for (const [slot, matrix] of combinations.flatMap((sum) => sum.terms)) {
        if (!from.has(slot)) continue;
        coupling = Math.max(coupling, largest(matrix.flat()));
        table.push([rank, from.get(slot), ...matrix.flat()]);
      }
    });
    const heads = table.length ? table[0].slice(2).map((_, i) => (i ? "" : "matrix")) : [];
    return {
      name: phase === "reduce" ? `reduce, ${stride} apart` : phase, rows: all(ranks.length), edges, head: ["rank", "reads from", ...heads], table, coupling,
      explanation: `${PHASES[phase]} With blocks of ${neighbour} points or more one message to each neighbour suffices.`,
    };
  });
}

function tolerance(values) {
  const power = number(values, "power", "the tolerance");
  if (power < 0) return 10 ** power;
  throw new Error(`a tolerance of 10 to the power ${power}: the power must be less than 0`);
}

function show(values) {
  lines.closures();
  const { method, scheme } = values;
  page.enable("ranks", method === "ranks");
  page.enable("power", method !== "ranks");
  const points = whole(values, "points", "points");
  const row = whole(values, "row", "row");
  let count;
  if (method === "ranks") {
    const result = kolmo.ask({ about: "ranks", scheme, closure: lines.closure(), ranks: whole(values, "ranks", "ranks"), points });
    stages = rankStages(result);
    count = result.ranks.length;
  } else {
    const line = { scheme, alpha: null, closure: lines.closure(), points };
    const result = kolmo.ask({ about: "reduction", line, tolerance: tolerance(values) });
    stages = method === "cyclic" ? cyclicStages(result) : parallelStages(result);
    count = result.rows;
    const near = result.special === null ? "" : ` ${2 * result.special + 1} different rows per level, of ${result.rows}.`;
    if (method === "cyclic") stages[0].explanation += near;
  }
  page.limit("row", count - 1);
  page.limit("level", stages.length - 1);
  if (row >= count) throw new Error(`row or rank ${row}; the last of ${count} is ${count - 1}`);
  const level = Math.min(whole(values, "level", "the level"), stages.length - 1);
  drawStage(level, row, count);
}

function drawStage(level, row, count) {
  const stage = stages[level];
  net.draw($("net"), count, stages, { level, row });
  $("explanation").textContent = `${stage.name}: ${stage.explanation}`;
  $("back").disabled = level === 0;
  $("next").disabled = level === stages.length - 1;
  const cells = (kind, values, own) => {
    const line = document.createElement("tr");
    line.append(...values.map((value) => Object.assign(document.createElement(kind), { textContent: value })));
    if (own) line.className = "good";
    return line;
  };
  $("table-title").textContent = `Coefficients, ${stage.name}`;
  $("head").replaceChildren(cells("th", stage.head));
  const fixed = stage.head[1] === "reads from" ? 2 : 1;
  $("rows").replaceChildren(...stage.table.map((one) => cells("td", one.map((value, i) => (i < fixed ? value : digits(value, 6))), one[0] === row)));
  const known = stages.map((one, at) => [at, one.coupling]).filter(([, coupling]) => coupling !== null);
  couplingChart.x.max = Math.max(1, stages.length - 1);
  const [x, y] = [known.map(([at]) => at), known.map(([, coupling]) => coupling)];
  couplingChart.show([
    { name: "largest coefficient", color: ONE, x, y },
    { color: ONE, dots: 3, x, y },
    { color: TWO, dots: 5, x: [level], y: [stage.coupling] },
  ]);
}

function move(by) {
  const field = $("choices").elements.level;
  field.value = Math.max(0, Math.min(stages.length - 1, Math.min(Number(field.value), stages.length - 1) + by));
  field.dispatchEvent(new Event("input", { bubbles: true }));
  const [pressed, other] = by < 0 ? [$("back"), $("next")] : [$("next"), $("back")];
  if (pressed.disabled) other.focus();
}

$("back").addEventListener("click", () => move(-1));
$("next").addEventListener("click", () => move(1));
page.begin(() => lines.prepare(), show);
