"use strict";
// Reductions level by level. A stage: name, rows, edges, explanation, and [row, coefficients ...] of a table with these heads.
const couple = new Chart("couple", { label: "stage", min: 0, max: 5 }, { label: "largest", min: 1e-17, max: 10, log: true });
let stages = [];

const largest = (numbers) => numbers.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
const all = (count) => Array.from({ length: count }, (_, i) => i);

function cyclic(told) {
  if (told.cyclic === null) throw new Error("cyclic reduction is for tridiagonal matrices, and this one is pentadiagonal");
  const place = (level, r) => (r + 1) * 2 ** level - 1;
  const of = (level, rows, first, table, head, says, name) => {
    const own = table.map((numbers, i) => [first + 2 * i, numbers]);
    const edges = own.flatMap(([r]) => [r - 1, r + 1].filter((beside) => beside >= 0 && beside < rows).map((beside) => [place(level, beside), place(level, r)]));
    return {
      name, says, edges, head: ["row", ...head],
      rows: all(rows).map((r) => place(level, r)),
      table: own.map(([r, numbers]) => [place(level, r), ...numbers]),
      coupling: largest(table.flatMap((numbers) => numbers.slice(-2))),
    };
  };
  const down = told.cyclic.map(({ rows, forward }, level) => of(level, rows, 1, forward, ["k₁", "k₂"],
    `${rows} rows ${2 ** level} apart. The neighbours of every second row are eliminated: d ← d − k₁ d(left) − k₂ d(right).`, `forward ${level}`));
  const up = told.cyclic.map(({ rows, backward }, level) => of(level, rows, 0, backward, ["1/b", "a/b", "c/b"],
    "Back substitution: the other rows follow from their neighbours, x = d/b − (a/b) x(left) − (c/b) x(right).", `back ${level}`));
  const last = {
    name: "the last", rows: [2 ** told.cyclic.length - 1], edges: [], head: ["row", "1/b"], table: [[2 ** told.cyclic.length - 1, told.last]],
    says: "One row is left: x = d/b.", coupling: null,
  };
  return [...down, last, ...up.reverse()];
}

function parallel(told) {
  const offsets = told.half_band === 2 ? [-2, -1, 1, 2] : [-1, 1];
  const made = told.parallel.map((rows, level) => {
    const stride = 2 ** level;
    const edges = rows.flatMap((k, i) => offsets.map((o, at) => [i + o * stride, i, k[at]]))
      .filter(([from, , k]) => k !== 0 && from >= 0 && from < told.rows);
    return {
      name: `stride ${stride}`, rows: all(told.rows), edges, head: ["row", ...offsets.map((o) => `k(${o > 0 ? "+" : "−"}${Math.abs(o)})`)],
      table: rows.map((k, i) => [i, ...k]), coupling: largest(rows.flat()),
      says: `The neighbours at distance ${stride} are eliminated from every row, which is then coupled to those at distance ${2 * stride}: d ← d − Σ k d.`,
    };
  });
  const need = Math.ceil(Math.log2(told.rows));
  const stop = made.length < need ? ` Here ${made.length} of ${need} levels suffice: the remaining couplings are below the tolerance.` : "";
  return [...made, {
    name: "divide", rows: all(told.rows), edges: [], head: ["row", "1/b"], table: told.inverse.map((one, i) => [i, one]), coupling: null,
    says: `No row is coupled to another: x = d/b.${stop}`,
  }];
}

const PHASES = {
  tail: "Each rank sends its last row without the unknown separators to the right neighbour.",
  detach: "An odd number of rows: the last row of each system is eliminated first, by its neighbours.",
  reduce: "The neighbours of every row are eliminated, as in parallel cyclic reduction; the row then couples to those twice as far away.",
  reattach: "Detached rows receive the solution of their neighbours.",
  head: "The separators are sent to the left neighbours; every rank can finish its block.",
};

function ofRanks({ ranks, neighbour }) {
  // The sums of a plan between two exchanges; the first exchange is that of the halo.
  const sums = ranks.map(({ steps }) => {
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
      const [exchange, ...sumsOf] = sums[rank][next[rank]++] ?? [null];
      if (!exchange) return;
      const from = new Map(exchange.receive.map(({ peer, slots }) => [slots[0], peer]));
      for (const [slot, matrix] of sumsOf.flatMap((sum) => sum.terms)) {
        if (!from.has(slot)) continue;
        coupling = Math.max(coupling, largest(matrix.flat()));
        table.push([rank, from.get(slot), ...matrix.flat()]);
      }
    });
    const heads = table.length ? table[0].slice(2).map((_, i) => (i ? "" : "times")) : [];
    return {
      name: phase === "reduce" ? `reduce, ${stride} apart` : phase, rows: all(ranks.length), edges, head: ["rank", "reads of", ...heads], table, coupling,
      says: `${PHASES[phase]} With blocks of ${neighbour} points or more one message to each neighbour suffices.`,
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
    const told = kolmo.ask({ about: "ranks", scheme, closure: lines.closure(), ranks: whole(values, "ranks", "ranks"), points });
    stages = ofRanks(told);
    count = told.ranks.length;
  } else {
    const line = { scheme, alpha: null, closure: lines.closure(), points };
    const told = kolmo.ask({ about: "reduction", line, tolerance: tolerance(values) });
    stages = method === "cyclic" ? cyclic(told) : parallel(told);
    count = told.rows;
    const near = told.special === null ? "" : ` ${2 * told.special + 1} kinds of rows per level in ${told.rows}.`;
    if (method === "cyclic") stages[0].says += near;
  }
  page.limit("row", count - 1);
  page.limit("level", stages.length - 1);
  if (row >= count) throw new Error(`row or rank ${row}; the last of ${count} is ${count - 1}`);
  const level = Math.min(whole(values, "level", "the level"), stages.length - 1);
  drawn(level, row, count);
}

function drawn(level, row, count) {
  const stage = stages[level];
  net.draw($("net"), count, stages, { level, row });
  $("says").textContent = `${stage.name}: ${stage.says}`;
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
  const fixed = stage.head[1] === "reads of" ? 2 : 1;
  $("rows").replaceChildren(...stage.table.map((one) => cells("td", one.map((value, i) => (i < fixed ? value : digits(value, 6))), one[0] === row)));
  const known = stages.map((one, at) => [at, one.coupling]).filter(([, coupling]) => coupling !== null);
  couple.x.max = Math.max(1, stages.length - 1);
  const [x, y] = [known.map(([at]) => at), known.map(([, coupling]) => coupling)];
  couple.show([
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
