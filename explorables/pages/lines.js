"use strict";
// Fields that select an operator and a line.
const PERIODIC = "periodic";
// The tridiagonal scheme, whose α the user chooses.
const FREE = "tridiagonal";
const [ONE, TWO, THREE] = ["#0b62a4", "#c2410c", "#047857"];

const lines = {
  schemes: null,

  // Lists the schemes that have a matrix, and `more`.
  prepare(more = []) {
    this.schemes ??= kolmo.ask({ about: "choices" }).schemes.filter((one) => one.alpha !== 0);
    page.fill($("choices").elements.scheme, [...this.schemes.map((one) => one.name), ...more], "compact6");
    this.closures();
  },

  closures() {
    const { scheme, closure } = $("choices").elements;
    const known = this.schemes.find((one) => one.name === (scheme.value === FREE ? "compact6" : scheme.value));
    page.fill(closure, [PERIODIC, ...known.closures], PERIODIC);
  },

  closure() {
    const { value } = $("choices").elements.closure;
    return value === PERIODIC ? null : value;
  },
};

// A table of two columns.
function table(id, rows) {
  $(id).replaceChildren(...rows.map(([what, value]) => {
    const row = document.createElement("tr");
    row.append(...[what, value].map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    return row;
  }));
}
