"use strict";
// Common to all pages: fields of a form, which the address stores, and error messages.
const $ = (id) => document.getElementById(id);

// Formatted numbers.
function digits(value, count = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(count - 2).replace("e+", "e");
  return String(Number(value.toPrecision(count)));
}

// Milliseconds without a change before the address is written: browsers limit the rate of such writes.
const QUIET = 200;

const page = {
  form: null,
  writing: null,

  // The fields by name: numbers of number fields, true and false of boxes; NaN where a number field is empty.
  values() {
    const values = {};
    for (const field of this.form.elements) {
      if (!field.name) continue;
      values[field.name] = field.type === "checkbox" ? field.checked : field.type === "number" ? field.valueAsNumber : field.value;
    }
    return values;
  },

  fill(select, names, chosen) {
    const kept = names.includes(select.value) ? select.value : chosen;
    select.replaceChildren(...names.map((name) => new Option(name, name, name === kept, name === kept)));
  },

  sliders() {
    return this.form.querySelectorAll("input[type=range]");
  },

  // Each slider precedes the number field that it controls.
  pair() {
    for (const slider of this.sliders()) {
      const number = slider.nextElementSibling;
      slider.ariaLabel = number.ariaLabel || slider.closest("label").firstChild.textContent.trim();
      slider.addEventListener("input", () => { number.value = slider.value; });
      number.addEventListener("input", () => { slider.value = number.value; });
    }
  },

  // The slider of a field ends at `last`.
  limit(name, last) {
    const number = this.form.elements[name];
    const slider = number.previousElementSibling;
    slider.max = last;
    slider.value = number.value;
  },

  // Fields without effect are disabled.
  enable(name, wanted) {
    const number = this.form.elements[name];
    number.disabled = number.previousElementSibling.disabled = !wanted;
  },

  remember() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.write(), QUIET);
  },

  write() {
    const words = new URLSearchParams();
    for (const [name, value] of Object.entries(this.values())) words.set(name, value);
    history.replaceState(null, "", "#" + words);
  },

  recall() {
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      const field = this.form.elements[name];
      if (!field) continue;
      if (field.type === "checkbox") field.checked = value === "true";
      else if (field.tagName !== "SELECT" || [...field.options].some((option) => option.value === value)) field.value = value;
    }
    for (const slider of this.sliders()) slider.value = slider.nextElementSibling.value;
  },

  say(sentence) {
    $("error").textContent = sentence;
    $("error").hidden = !sentence;
  },

  // `prepare` fills the fields, `show` draws their content after every change.
  async begin(prepare, show) {
    this.form = $("choices");
    this.form.addEventListener("submit", (event) => event.preventDefault());
    const update = () => {
      try {
        show(this.values());
        this.say("");
        this.remember();
      } catch (error) {
        this.say(error.message);
        // An error in the page, not in the input.
        if (error.name !== "Error") throw error;
      }
    };
    // Twice, because the options of one field depend on another.
    const restore = () => {
      prepare();
      this.recall();
      prepare();
      this.recall();
    };
    try {
      await kolmo.open();
      restore();
    } catch (error) {
      this.say("This page needs a browser with WebAssembly: " + error.message);
      throw error;
    }
    this.pair();
    this.form.addEventListener("input", update);
    this.form.addEventListener("change", update);
    window.addEventListener("hashchange", () => {
      clearTimeout(this.writing);
      restore();
      update();
    });
    update();
    document.body.dataset.ready = "true";
  },
};

// The checked value of a number field; the message names the field.
function number(values, name, what) {
  if (Number.isFinite(values[name])) return values[name];
  throw new Error(`${what}: this is not a number`);
}

function whole(values, name, what) {
  const value = number(values, name, what);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new Error(`${what} = ${value}: this must be a whole number, 0 or more`);
}
