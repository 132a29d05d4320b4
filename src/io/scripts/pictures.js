// Pictures of planes as a film: a slider for the time, the value at the pointer, and profiles through the clicked point.
"use strict";
kolmo.films = (() => {
  const films = new Map(); // keys: ids of the sections
  const { element, number, Plot } = kolmo;

  /** Returns the pixels of a picture, four bytes each. */
  function pixels(image) {
    const canvas = element("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, canvas.width, canvas.height);
  }

  class Plane {
    constructor(film, part) {
      this.film = film;
      this.part = part;
      this.reading = element("p", { class: "value" });
      this.profiles = element("div", { class: "profiles" });
      part.append(this.reading, this.profiles);
      this.refresh();
    }

    /** Updates the plane after the pictures have changed. */
    refresh() {
      this.scale = this.part.dataset.scale.split(" ").map(Number);
      this.figures = [...this.part.querySelectorAll("figure[data-step]")];
      for (const figure of this.figures) {
        const image = figure.querySelector("img");
        image.addEventListener("pointermove", event => this.read(figure, this.point(figure, event)));
        image.addEventListener("pointerleave", () => this.hint());
        image.addEventListener("click", event => {
          this.selected = this.point(figure, event);
          this.draw(figure);
        });
      }
      this.hint();
    }

    hint() {
      this.reading.textContent = "Point at the picture for values, click for profiles.";
    }

    show(step) {
      for (const figure of this.figures) figure.classList.toggle("shown", figure.dataset.step === step);
      const shown = this.figures.find(figure => figure.dataset.step === step);
      if (shown && this.selected) shown.querySelector("img").decode().then(() => this.draw(shown), () => {});
    }

    /** Returns the pixel at the pointer. */
    point(figure, event) {
      const image = event.target;
      const { left, top, width, height } = image.getBoundingClientRect();
      const index = (fraction, count) => Math.max(0, Math.min(count - 1, Math.floor(fraction * count)));
      return [
        index((event.clientX - left) / width, image.naturalWidth),
        index((event.clientY - top) / height, image.naturalHeight),
      ];
    }

    /** Returns the position of a pixel. */
    place(figure, [column, row]) {
      const image = figure.querySelector("img");
      const [left, right, low, high] = (figure.dataset.edges ?? "0 1 0 1").split(" ").map(Number);
      return [
        left + ((column + 0.5) / image.naturalWidth) * (right - left),
        high - ((row + 0.5) / image.naturalHeight) * (high - low),
      ];
    }

    /** Returns the value that the colour of a pixel represents; `null` for grey, which is outside the flow. */
    value({ data, width }, [column, row]) {
      const [red, green, blue] = data.subarray(4 * (column + width * row), 4 * (column + width * row) + 3);
      if (red === 128 && green === 128 && blue === 128) return null;
      const [low, high] = this.scale;
      return low + this.film.fraction(red, green, blue) * (high - low);
    }

    /** Rounds a value to three digits; values below the resolution of the colours are 0. */
    rounded(value) {
      const [low, high] = this.scale;
      return number(Math.abs(value) < (high - low) / 510 ? 0 : value, 3);
    }

    read(figure, at) {
      const [right, up] = figure.dataset.axes;
      const [x, y] = this.place(figure, at);
      const value = this.value(this.film.pixels(figure), at);
      const { quantity, unit } = this.film.part.dataset;
      const found = value === null ? "no value" : `${quantity} ≈ ${this.rounded(value)} ${unit}`.trim();
      this.reading.textContent = `${right} = ${number(x, 3)}, ${up} = ${number(y, 3)}: ${found}`;
    }

    /** Plots the values on the two lines through the selected point. */
    draw(figure) {
      const [right, up] = figure.dataset.axes;
      const all = this.film.pixels(figure);
      const at = this.place(figure, this.selected);
      const line = along => {
        const count = along === 0 ? all.width : all.height;
        const points = Array.from({ length: count }, (_, i) => (along === 0 ? [i, this.selected[1]] : [this.selected[0], i]));
        if (along === 1) points.reverse();
        const name = [right, up][1 - along];
        return {
          title: `Along ${[right, up][along]} at ${name} = ${number(at[1 - along], 3)}`,
          labels: [`${[right, up][along]} / L`, this.film.part.dataset.quantity],
          logarithmic: [false, false],
          x: [points.map(point => this.place(figure, point)[along])],
          curves: [
            {
              label: `t = ${number(Number(figure.dataset.time), 4)}`,
              colour: "#0072B2",
              width: 2,
              dashes: [],
              kind: "line",
              x: 0,
              y: points.map(point => this.value(all, point)),
            },
          ],
          frames: [],
        };
      };
      const lines = [line(0), line(1)];
      if (!this.lines) {
        this.lines = lines.map(data => {
          const profile = element("figure");
          this.profiles.append(profile);
          profile.append(element("figcaption", {}, "From the colours: to about 1/500 of their scale."));
          return new Plot(profile, data);
        });
      }
      this.lines.forEach((plot, along) => {
        plot.live.querySelector(".title").textContent = lines[along].title;
        plot.update(lines[along]);
      });
    }
  }

  class Film {
    constructor(part) {
      this.part = part;
      const text = JSON.parse(part.querySelector('script[type="application/json"]').textContent);
      this.colours = text.match(/../g).map(byte => parseInt(byte, 16));
      this.cache = new WeakMap();
      this.play = element("button", { type: "button", "aria-label": "play" }, "▶");
      this.range = element("input", { type: "range", min: 0, "aria-label": "time of the pictures" });
      this.time = element("output");
      this.bar = element("div", { class: "film" });
      this.bar.append(this.play, this.range, this.time);
      part.querySelector(".planes").before(this.bar);
      this.range.addEventListener("input", () => this.show());
      this.play.addEventListener("click", () => (this.timer ? this.stop() : this.run()));
      part.classList.add("sliding");
      this.planes = [...part.querySelectorAll(".plane")].map(plane => new Plane(this, plane));
      this.refresh();
    }

    /** Updates the film after the pictures have changed. It shows the new last picture if the old last one was shown. */
    refresh() {
      const last = !this.steps || Number(this.range.value) === this.steps.length - 1;
      const times = new Map();
      for (const { figures } of this.planes) for (const { dataset } of figures) times.set(dataset.step, Number(dataset.time));
      this.steps = [...times].sort((a, b) => a[0] - b[0]);
      this.range.max = this.steps.length - 1;
      if (last) this.range.value = this.steps.length - 1;
      this.bar.hidden = this.steps.length < 2;
      this.show();
    }

    show() {
      const [step, time] = this.steps[Number(this.range.value)];
      this.time.textContent = `t = ${number(time, 4)}, step ${step}`;
      this.planes.forEach(plane => plane.show(step));
    }

    run() {
      this.play.textContent = "❚❚";
      this.timer = setInterval(() => {
        this.range.value = (Number(this.range.value) + 1) % this.steps.length;
        this.show();
      }, 500);
    }

    stop() {
      clearInterval(this.timer);
      this.timer = null;
      this.play.textContent = "▶";
    }

    pixels(figure) {
      const image = figure.querySelector("img");
      if (!this.cache.has(image)) this.cache.set(image, pixels(image));
      return this.cache.get(image);
    }

    /** Returns the position of the nearest colour in the colour map, from 0 to 1. */
    fraction(red, green, blue) {
      const colours = this.colours;
      let [best, minDistance] = [0, Infinity];
      for (let at = 0; at < colours.length; at += 3) {
        const distance = (colours[at] - red) ** 2 + (colours[at + 1] - green) ** 2 + (colours[at + 2] - blue) ** 2;
        if (distance < minDistance) [best, minDistance] = [at, distance];
      }
      return best / (colours.length - 3);
    }

    /** Takes the pictures of a newer page. */
    update(part) {
      this.part.querySelector(":scope > p").replaceWith(part.querySelector(":scope > p"));
      for (const plane of this.planes) {
        const fresh = part.querySelector(`#${plane.part.id}`);
        if (!fresh) continue;
        plane.part.dataset.scale = fresh.dataset.scale;
        for (const name of [".colours", ".slices"]) plane.part.querySelector(name).replaceWith(fresh.querySelector(name));
        plane.refresh();
      }
      this.refresh();
    }
  }

  function start(part) {
    for (const film of part.querySelectorAll(".pictures")) films.set(film.id, new Film(film));
  }

  start(document);
  return { films, start };
})();
