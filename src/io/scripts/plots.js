// Plots with values at the cursor, zoom and logarithmic axes. A figure contains its curves as JSON and a drawing. The drawing is used
// in print and without scripts.
"use strict";
const kolmo = (() => {
  const INK = "#1A1A1A";
  const BLUE = "#0072B2";
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const plots = new Map(); // keys: ids of the figures

  const ink = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // Returns the displayed colour: as in report.css, which inverts the colours of the drawings in dark mode.
  const displayColour = colour => (colour === INK ? ink("--ink") : colour === BLUE && dark.matches ? "#4ba3da" : colour);

  function element(tag, attributes = {}, text = "") {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.textContent = text;
    return node;
  }

  const minus = text => text.replace("-", "−");
  const superscript = n => [...String(n)].map(c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");

  /** Formats a number with `digits` digits, with a power of ten if it is far from one. */
  function number(value, digits = 6) {
    if (value == null || !Number.isFinite(value)) return "no number";
    const size = Math.abs(value);
    if (size === 0 || (size >= 1e-3 && size < 1e6)) return minus(String(Number(value.toPrecision(digits))));
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    return `${minus(String(Number(mantissa)))}·10${superscript(Number(power))}`;
  }

  /** Returns the exponent of ten, a multiple of three, by which tick labels are divided to be short. */
  function powerOfThousand(numbers) {
    const largest = Math.max(...numbers.map(Math.abs));
    return largest === 0 || (largest >= 0.01 && largest < 1e4) ? 0 : 3 * Math.floor(Math.log10(largest) / 3);
  }

  /** Returns about `count` ticks of a logarithmic axis: at 1, 2 and 5 times powers of ten, at powers of ten alone, or at some of them. */
  function logarithmicTicks(low, high, count) {
    const within = values => values.filter(value => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
    const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
    const decades = Array.from({ length: last - first + 1 }, (_, k) => first + k);
    const fine = within(decades.flatMap(k => [1, 2, 5].map(mantissa => mantissa * 10 ** k)));
    if (fine.length < 2) {
      const step = 10 ** Math.floor(Math.log10((high - low) / 2));
      return within(Array.from({ length: 22 }, (_, n) => (Math.floor(low / step) + n) * step)).slice(0, 2 * count);
    }
    if (fine.length <= count) return fine;
    const every = Math.ceil(within(decades.map(k => 10 ** k)).length / count);
    return within(decades.filter(k => k % every === 0).map(k => 10 ** k));
  }

  /** Returns the tick labels of an axis: powers of ten on a logarithmic one, otherwise numbers with enough decimals to distinguish the ticks. */
  function ticks(plot, splits, axis, space, step) {
    const scale = plot.axes[axis].scale;
    if (plot.scales[scale].distr === 3) {
      return splits.map(value => {
        const power = Math.floor(Math.log10(value) + 1e-9);
        if (power >= -2 && power <= 4) return String(Number(value.toPrecision(3)));
        const mantissa = Math.round(value / 10 ** power);
        return mantissa === 1 ? `10${superscript(power)}` : `${mantissa}·10${superscript(power)}`;
      });
    }
    const power = powerOfThousand(splits);
    let decimals = Math.max(0, Math.ceil(power - Math.log10(step) - 1e-9));
    const parts = step * 10 ** (decimals - power);
    if (Math.abs(parts - Math.round(parts)) > 1e-6) decimals += 1; // steps such as 2.5
    const text = value => minus((value / 10 ** power).toFixed(Math.min(12, decimals)));
    return splits.map(value => text(Math.abs(value) < 1e-9 * step ? 0 : value));
  }

  /** Returns the name of an axis with the power of ten by which its numbers are divided: `before` in the plot, the rest in the labels. */
  function label(name, scale, before) {
    return plot => {
      const { min, max, distr } = plot.scales[scale];
      const power = before + (distr === 3 || min == null ? 0 : powerOfThousand([min, max]));
      return power === 0 ? name : `${name}  (×10${superscript(power)})`;
    };
  }

  /** Returns the range with a margin above and below, extended to zero if values come near it. */
  function padded(low, high, logarithmic) {
    if (low == null) return logarithmic ? [1, 10] : [0, 1];
    if (logarithmic) return [low === high ? low / 2 : low * 0.8, low === high ? high * 2 : high * 1.25];
    const span = high - low;
    const size = Math.max(Math.abs(low), Math.abs(high));
    if (span <= 1e-9 * size || size === 0) return [low - (0.1 * size || 1), high + (0.1 * size || 1)];
    return [
      low >= 0 && low < 0.4 * high ? 0 : low - 0.06 * span,
      high <= 0 && high > 0.4 * low ? 0 : high + 0.06 * span,
    ];
  }

  /** Returns a sample of a curve for the legend. */
  function sample(curve) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("width", 34);
    svg.setAttribute("height", 12);
    const draw = (tag, attributes) => {
      const part = document.createElementNS("http://www.w3.org/2000/svg", tag);
      const colour = displayColour(curve.colour);
      const all = { stroke: colour, fill: curve.kind.endsWith("circles") ? "none" : colour, ...attributes };
      for (const [name, value] of Object.entries(all)) part.setAttribute(name, value);
      svg.append(part);
    };
    if (!curve.kind.endsWith("circles")) {
      draw("line", { x1: 0, y1: 6, x2: 34, y2: 6, "stroke-width": curve.width, "stroke-dasharray": curve.dashes.join(" ") });
    }
    if (curve.kind.includes(" ") || curve.kind === "circles") [9, 25].forEach(cx => draw("circle", { cx, cy: 6, r: 4 }));
    return svg;
  }

  class Plot {
    /** Draws the curves in `data` into `figure`. */
    constructor(figure, data) {
      this.figure = figure;
      this.data = data;
      this.logarithmic = [...data.logarithmic];
      this.hidden = new Set(); // labels of hidden curves
      this.frame = null;
      this.zoomed = false;
      this.live = element("div", { class: "live" });
      this.legend = element("div", { class: "legend" });
      this.canvas = element("div", { class: "canvas" });
      this.tools = element("div", { class: "tools" });
      this.reading = element("div", { class: "reading", hidden: "" });
      this.live.append(element("p", { class: "title" }, data.title), this.legend, this.canvas, this.tools);
      figure.insertBefore(this.live, figure.querySelector("figcaption"));
      figure.classList.add("drawn");
      this.addTools();
      this.build();
      new ResizeObserver(() => this.plot.setSize(this.size())).observe(this.canvas);
    }

    button(text, press) {
      const button = element("button", { type: "button" }, text);
      button.addEventListener("click", () => press(button));
      this.tools.append(button);
      return button;
    }

    addTools() {
      this.toggles = ["x", "y"].map((axis, at) =>
        this.button(`log ${axis}`, () => {
          this.logarithmic[at] = !this.logarithmic[at];
          this.build();
        }),
      );
      this.whole = this.button("whole", () => this.reset());
      if (this.data.frames.length > 1) this.slider();
    }

    /** Adds the slider for curves at another time. */
    slider() {
      const range = element("input", { type: "range", min: 0, "aria-label": "another time" });
      this.time = element("output");
      range.addEventListener("input", () => {
        this.frame = Number(range.value);
        this.build();
      });
      this.range = range;
      this.limits();
      this.tools.append(element("span", { class: "name" }, "another time"), range, this.time);
    }

    limits() {
      this.range.max = this.data.frames.length - 1;
      if (this.frame === null) this.range.value = this.range.max;
    }

    size() {
      const width = Math.max(200, Math.floor(this.canvas.clientWidth));
      return { width, height: Math.round(Math.min(400, Math.max(240, 0.6 * width))) };
    }

    curves() {
      const frame = this.frame === null ? null : this.data.frames[this.frame];
      return frame ? this.data.curves.concat(frame.curves) : this.data.curves;
    }

    /** Returns the power of ten by which y is divided: the library has no ticks for numbers near 1e-16. */
    powerOfY() {
      const finite = this.curves().flatMap(curve => curve.y.filter(value => value !== null));
      const largest = finite.reduce((maximum, value) => Math.max(maximum, Math.abs(value)), 0);
      return this.logarithmic[1] ? 0 : powerOfThousand([largest]);
    }

    /** Returns the drawable part of a curve: x, and y with `null` where it is not a number or outside the range of a logarithmic axis. */
    drawableData(curve) {
      const [logX, logY] = this.logarithmic;
      const [x, y] = [[], []];
      this.data.x[curve.x].forEach((value, at) => {
        if (logX && !(value > 0)) return;
        x.push(value);
        const none = curve.y[at] === null || (logY && !(curve.y[at] > 0));
        y.push(none ? null : curve.y[at] / 10 ** this.power);
      });
      return [x, y];
    }

    series(curve) {
      const colour = displayColour(curve.colour);
      const open = curve.kind.endsWith("circles");
      const few = curve.kind === "few circles";
      return {
        label: curve.label,
        show: !this.hidden.has(curve.label),
        stroke: colour,
        width: curve.width,
        dash: curve.dashes,
        paths: open ? () => null : undefined,
        points: {
          // Rows are marked if few of them are visible. A line through one point would be invisible.
          show: (plot, at, from, to) => {
            const few = (this.zoomed && to - from < 25) || curve.y.length === 1;
            return curve.kind === "line" ? few : curve.kind !== "level";
          },
          size: curve.kind === "line" ? 6 : 8,
          width: open ? curve.width : 0,
          stroke: colour,
          fill: open ? "transparent" : colour,
          filter: few ? (plot, at) => this.spaced(plot, at) : undefined,
        },
      };
    }

    /** Returns points of a curve whose marks do not touch each other. */
    spaced(plot, at) {
      const [x, y] = [plot.data[0], plot.data[at]];
      const kept = [];
      let last = -Infinity;
      for (let i = 0; i < x.length; i++) {
        const place = y[i] == null ? last : plot.valToPos(x[i], "x");
        if (y[i] != null && place >= last + plot.over.clientWidth / 32) {
          kept.push(i);
          last = place;
        }
      }
      return kept;
    }

    build() {
      const view = this.zoomed && this.plot ? this.view() : null;
      this.plot?.destroy();
      this.zoomed = false;
      const curves = this.curves();
      const [logX, logY] = this.logarithmic;
      this.power = this.powerOfY();
      const axis = (key, name, power, logarithmic) => ({
        scale: key,
        stroke: ink("--ink"),
        font: "13px system-ui, sans-serif",
        labelFont: "14px system-ui, sans-serif",
        label: label(name, key, power),
        labelSize: 22,
        grid: { stroke: ink("--line"), width: 1 },
        ticks: { stroke: ink("--line"), width: 1, size: 6 },
        values: ticks,
        ...(logarithmic && {
          filter: (plot, splits) => splits,
          splits: (plot, at, low, high) => {
            const count = key === "x" ? plot.width / 60 : plot.height / 40;
            return logarithmicTicks(low, high, Math.max(2, Math.floor(count)));
          },
        }),
      });
      const options = {
        ...this.size(),
        pxAlign: 0,
        legend: { show: false },
        scales: {
          x: {
            time: false,
            distr: logX ? 3 : 1,
            range: (plot, low, high) => (low < high ? [low, high] : padded(low, high, logX)),
          },
          y: { distr: logY ? 3 : 1, range: (plot, low, high) => padded(low, high, logY) },
        },
        axes: [
          { ...axis("x", this.data.labels[0], 0, logX), size: 30, space: 60 },
          {
            ...axis("y", this.data.labels[1], this.power, logY),
            size: (plot, values, at) => {
              plot.ctx.font = plot.axes[at].font[0];
              const width = text => plot.ctx.measureText(text).width / devicePixelRatio;
              return 20 + Math.max(0, ...(values ?? []).map(width));
            },
            space: 36,
          },
        ],
        series: [{}, ...curves.map(curve => this.series(curve))],
        cursor: {
          drag: { x: true, y: true, uni: 30, dist: 5 },
          points: { size: 8 },
          // The cursor does not read levels, which are constant.
          hover: { prox: (plot, at) => (curves[at - 1].kind === "level" ? 0 : null) },
        },
        hooks: {
          setCursor: [plot => this.read(plot)],
          setSelect: [plot => (this.zoomed ||= plot.select.width > 0 || plot.select.height > 0)],
        },
      };
      this.plot = new uPlot(options, this.joined(), this.canvas);
      this.plot.over.append(this.reading);
      this.plot.over.addEventListener("dblclick", () => (this.zoomed = false));
      // A logarithmic axis cannot show a range that reaches zero. It shows its whole range instead.
      for (const [at, key] of ["x", "y"].entries()) {
        if (!view || (this.logarithmic[at] && !(view[at].min > 0))) continue;
        const power = at === 1 ? 10 ** this.power : 1;
        this.plot.setScale(key, { min: view[at].min / power, max: view[at].max / power });
        this.zoomed = true;
      }
      this.toggles.forEach((button, at) => button.setAttribute("aria-pressed", this.logarithmic[at]));
      this.drawLegend(curves);
      if (this.time) this.time.textContent = this.frame === null ? "" : `t = ${number(this.data.frames[this.frame].time, 4)}`;
    }

    /** Returns the visible range of both axes in the units of the run. */
    view() {
      return ["x", "y"].map((key, at) => {
        const [{ min, max }, power] = [this.plot.scales[key], at === 1 ? 10 ** this.power : 1];
        return { min: min * power, max: max * power };
      });
    }

    joined() {
      return uPlot.join(this.curves().map(curve => this.drawableData(curve)));
    }

    /** Draws the legend, in which each curve can be hidden. */
    drawLegend(curves) {
      this.legend.replaceChildren(
        ...curves.map((curve, at) => {
          const key = element("button", { type: "button", "aria-pressed": !this.hidden.has(curve.label) });
          key.append(sample(curve), element("span", {}, curve.label));
          key.addEventListener("click", () => {
            const show = this.hidden.has(curve.label);
            if (show) this.hidden.delete(curve.label);
            else this.hidden.add(curve.label);
            key.setAttribute("aria-pressed", show);
            this.plot.setSeries(at + 1, { show });
          });
          return key;
        }),
      );
    }

    /** Shows the values of the rows nearest to the pointer. */
    read(plot) {
      const { left, top, idxs } = plot.cursor;
      const rows = this.curves()
        .map((curve, at) => ({ curve, row: idxs?.[at + 1], y: plot.data[at + 1] }))
        .filter(({ curve, row }) => row != null && !this.hidden.has(curve.label));
      this.reading.hidden = left < 0 || rows.length === 0;
      if (this.reading.hidden) return;
      const first = plot.data[0][rows[0].row];
      const lines = rows.map(({ curve, row, y }) => {
        const line = element("div");
        const at = plot.data[0][row] === first ? "" : ` at ${number(plot.data[0][row], 4)}`;
        line.append(sample(curve), element("span", {}, `${curve.label}: `), element("b", {}, number(y[row] === null ? null : y[row] * 10 ** this.power)), at);
        return line;
      });
      const name = this.data.labels[0].split(" ").at(-1);
      this.reading.replaceChildren(element("div", {}, `${name} = ${number(first)}`), ...lines);
      const [width, height] = [plot.over.clientWidth, plot.over.clientHeight];
      const { offsetWidth, offsetHeight } = this.reading;
      const beside = left < width / 2 ? left + 14 : left - offsetWidth - 14;
      this.reading.style.left = `${Math.max(0, Math.min(width - offsetWidth, beside))}px`;
      this.reading.style.top = `${Math.max(0, Math.min(height - offsetHeight, top - offsetHeight / 2))}px`;
    }

    reset() {
      this.zoomed = false;
      this.plot.setData(this.plot.data, true);
    }

    /** Replaces the curves by newer ones. Zoom, hidden curves and selections stay. */
    update(data) {
      const names = of => of.curves.map(curve => curve.label).join("\n");
      const addsSlider = data.frames.length > 1 && !this.range;
      const before = [names(this.data), this.power];
      this.data = data;
      const unchanged = this.frame === null && names(data) === before[0] && this.powerOfY() === before[1];
      if (addsSlider) this.slider();
      else if (this.range) this.limits();
      if (unchanged) this.plot.setData(this.joined(), !this.zoomed);
      else this.build();
    }
  }

  /** Draws all figures in `part` that have curves and are not drawn yet. */
  function start(part) {
    for (const figure of part.querySelectorAll("figure[id]:not(.drawn)")) {
      const data = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
      plots.set(figure.id, new Plot(figure, data));
    }
  }

  dark.addEventListener("change", () => plots.forEach(plot => plot.build()));
  start(document);
  return { Plot, element, number, plots, start };
})();
