"use strict";
// Curves on a canvas with linear or logarithmic axes, their ticks, and the values at the pointer.
class Chart {
  // `x` and `y`: { label, min, max, log }.
  constructor(id, x, y, options = {}) {
    this.box = $(id);
    this.canvas = this.box.querySelector("canvas");
    this.key = $(id + "-key");
    Object.assign(this, { x, y, series: [], drawBackground: () => {}, options, pointer: null });
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.canvas.addEventListener("pointermove", (event) => { this.pointer = event.offsetX; this.draw(); });
    this.canvas.addEventListener("pointerleave", () => { this.pointer = null; this.draw(); });
  }

  // `series`: { name, color, x, y, width, dash, dots }. The key lists those with a name. `drawBackground` draws below the curves.
  show(series, drawBackground) {
    this.series = series;
    if (drawBackground) this.drawBackground = drawBackground;
    this.draw();
  }

  // Returns the pixel of a value on an axis.
  place(axis, value) {
    const { min, max, log } = axis;
    const fraction = log ? Math.log(value / min) / Math.log(max / min) : (value - min) / (max - min);
    const { left, right, top, bottom } = this.edges;
    return axis === this.x ? left + fraction * (right - left) : bottom - fraction * (bottom - top);
  }

  // Returns the ticks of an axis of `length` pixels.
  ticks({ min, max, log }, length) {
    if (log) {
      const [first, last] = [Math.ceil(Math.log10(min) - 1e-9), Math.floor(Math.log10(max) + 1e-9)];
      const step = Math.max(1, Math.ceil((last - first) / Math.max(2, length / 40)));
      return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => 10 ** (first + i * step));
    }
    const minStep = (max - min) / Math.max(2, length / 45);
    const power = 10 ** Math.floor(Math.log10(minStep));
    const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= minStep);
    const first = Math.ceil(min / step - 1e-9);
    const count = Math.floor(max / step + 1e-9) - first + 1;
    return Array.from({ length: Math.max(0, count) }, (_, i) => Number(((first + i) * step).toPrecision(10)));
  }

  draw() {
    const [width, height] = [this.box.clientWidth, this.box.clientHeight];
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "12px system-ui, sans-serif";
    this.edges = { left: 60, right: width - 12, top: 10, bottom: height - 38 };
    const { left, right, top, bottom } = this.edges;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, right - left, bottom - top);
    pen.clip();
    this.drawBackground(pen, this);
    pen.restore();
    this.axes(pen);
    pen.save();
    pen.beginPath();
    pen.rect(left, top, right - left, bottom - top);
    pen.clip();
    for (const one of this.series) this.curve(pen, one);
    if (this.pointer !== null) this.line(pen, [[this.pointer, top], [this.pointer, bottom]], "#98a2ad");
    pen.restore();
    this.updateKey();
  }

  axes(pen) {
    const { left, right, top, bottom } = this.edges;
    pen.lineWidth = 1;
    pen.fillStyle = "#5b6875";
    const text = (value, log) => (log ? "1e" + Math.round(Math.log10(value)) : String(value).replace("-", "−"));
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const tick of this.ticks(this.x, right - left)) {
      const at = this.place(this.x, tick);
      this.line(pen, [[at, top], [at, bottom]], "#e6eaee");
      pen.fillText(text(tick, this.x.log), at, bottom + 5);
    }
    pen.fillText(this.x.label, (left + right) / 2, bottom + 21);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const tick of this.ticks(this.y, bottom - top)) {
      const at = this.place(this.y, tick);
      this.line(pen, [[left, at], [right, at]], "#e6eaee");
      pen.fillText(text(tick, this.y.log), left - 5, at);
    }
    pen.save();
    pen.translate(8, (top + bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText(this.y.label, 0, 0);
    pen.restore();
    pen.strokeStyle = "#98a2ad";
    pen.strokeRect(left, top, right - left, bottom - top);
  }

  line(pen, points, color) {
    pen.strokeStyle = color;
    pen.beginPath();
    points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
  }

  curve(pen, { x, y, color, width = 2, dash = [], dots }) {
    pen.strokeStyle = pen.fillStyle = color;
    pen.lineWidth = width;
    pen.setLineDash(dash);
    pen.beginPath();
    let open = false;
    for (let i = 0; i < x.length; i++) {
      if (y[i] === null || (this.y.log && !(y[i] > 0))) { open = false; continue; }
      const [h, v] = [this.place(this.x, x[i]), this.place(this.y, y[i])];
      if (dots) { pen.moveTo(h + dots, v); pen.arc(h, v, dots, 0, 2 * Math.PI); }
      else if (open) pen.lineTo(h, v);
      else { pen.moveTo(h, v); open = true; }
    }
    if (dots) pen.fill(); else pen.stroke();
    pen.setLineDash([]);
    pen.lineWidth = 1;
  }

  // Updates the key; it has the values at the pointer.
  updateKey() {
    if (!this.key) return;
    const { left, right } = this.edges;
    const fraction = this.pointer === null ? null : Math.min(1, Math.max(0, (this.pointer - left) / (right - left)));
    const { min, max, log } = this.x;
    const at = fraction === null ? null : log ? min * (max / min) ** fraction : min + fraction * (max - min);
    const items = this.series.filter((one) => one.name).map((one) => {
      const item = document.createElement("span");
      const mark = document.createElement("i");
      mark.style.borderColor = one.color;
      mark.style.borderTopStyle = one.dash ? "dashed" : "solid";
      item.append(mark, one.name);
      if (at !== null && one.x.length && !this.options.plane) {
        let nearest = 0;
        one.x.forEach((x, i) => { if (Math.abs(x - at) < Math.abs(one.x[nearest] - at)) nearest = i; });
        item.append(` ${digits(one.y[nearest], 5)}`);
      }
      return item;
    });
    if (at !== null && !this.options.plane) items.unshift(`${this.x.label.split(" ")[0]} = ${digits(at, 3)}`);
    this.key.replaceChildren(...items);
  }
}
