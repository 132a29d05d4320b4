"use strict";
// A diagram of a reduction: rows from left to right, levels downwards. A line leads from a row that is read to the row that reads it.
const net = {
  element(name, attributes, parent) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  },

  // `stages`: { name, rows, edges } of `count` rows. The stage and the row in `selected` are highlighted.
  draw(svg, count, stages, selected) {
    const [gap, left, step, top] = [Math.max(17, Math.min(60, 640 / count)), 118, 44, 30];
    const [width, height] = [left + gap * count, top + step * stages.length + 18];
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.style.minWidth = `${Math.min(width, 1000)}px`;
    svg.style.maxHeight = "520px";
    svg.replaceChildren();
    const [x, y] = [(row) => left + gap * (row + 0.5), (level) => top + step * level];
    for (let row = 0; row < count; row++) {
      if (count > 24 && row % 4 && row !== selected.row) continue;
      this.element("text", { x: x(row), y: 14, "text-anchor": "middle", "font-size": 11, fill: row === selected.row ? "#c2410c" : "#5b6875" }, svg).textContent = row;
    }
    this.element("rect", { x: 0, y: y(selected.level) - 10, width, height: step + 20, fill: "#eef5fb" }, svg);
    stages.forEach(({ name, edges }, level) => {
      const shown = level === selected.level;
      this.element("text", { x: 6, y: y(level) + step / 2 + 4, "font-size": 12, fill: shown ? "#0b62a4" : "#5b6875" }, svg).textContent = name;
      for (const [from, to] of edges) {
        const own = to === selected.row;
        this.element("line", {
          x1: x(from), y1: y(level), x2: x(to), y2: y(level + 1), class: "edge",
          stroke: own ? "#c2410c" : shown ? "#0b62a4" : "#b6c0ca", "stroke-width": own || shown ? 1.8 : 1,
        }, svg);
      }
    });
    for (let level = 0; level <= stages.length; level++) {
      const rows = new Set((stages[level] ?? stages[level - 1]).rows);
      for (let row = 0; row < count; row++) {
        const active = rows.has(row);
        this.element("circle", {
          cx: x(row), cy: y(level), r: active ? 4 : 2, fill: !active ? "#cdd4da" : row === selected.row ? "#c2410c" : "#1d2733",
        }, svg);
      }
    }
  },
};
