"use strict";
// Common to all pages: the fields of a form, which are stored in the address, and error messages.
const $ = (id) => document.getElementById(id);

// Formats a number with `count` digits.
function digits(value, count = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(count - 2).replace("e+", "e");
  return String(Number(value.toPrecision(count)));
}

// Milliseconds without a change before the address is written: browsers limit the rate of such writes.
const WRITE_DELAY = 200;

const page = {
  form: null,
  writeTimer: null,

  // Returns the values of the fields by name: numbers, booleans of check boxes, otherwise texts. An empty number field is NaN.
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
  connectSliders() {
    for (const slider of this.sliders()) {
      const number = slider.nextElementSibling;
      slider.ariaLabel = number.ariaLabel || slider.closest("label").firstChild.textContent.trim();
      slider.addEventListener("input", () => { number.value = slider.value; });
      number.addEventListener("input", () => { slider.value = number.value; });
    }
  },

  // Sets the maximum of the slider of a field.
  limit(name, maximum) {
    const number = this.form.elements[name];
    const slider = number.previousElementSibling;
    slider.max = maximum;
    slider.value = number.value;
  },

  // Enables a field, or disables it where it has no effect.
  enable(name, enabled) {
    const number = this.form.elements[name];
    number.disabled = number.previousElementSibling.disabled = !enabled;
  },

  // Writes the fields to the address when they have not changed for a while.
  remember() {
    clearTimeout(this.writeTimer);
    this.writeTimer = setTimeout(() => this.write(), WRITE_DELAY);
  },

  write() {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(this.values())) parameters.set(name, value);
    history.replaceState(null, "", "#" + parameters);
  },

  // Reads the fields from the address.
  recall() {
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      const field = this.form.elements[name];
      if (!field) continue;
      if (field.type === "checkbox") field.checked = value === "true";
      else if (field.tagName !== "SELECT" || [...field.options].some((option) => option.value === value)) field.value = value;
    }
    for (const slider of this.sliders()) slider.value = slider.nextElementSibling.value;
  },

  // Shows an error message; an empty one hides it.
  showError(message) {
    $("error").textContent = message;
    $("error").hidden = !message;
  },

  // Starts the page: `prepare` fills the fields, `show` draws the results after every change.
  async begin(prepare, show) {
    this.form = $("choices");
    this.form.addEventListener("submit", (event) => event.preventDefault());
    const update = () => {
      try {
        show(this.values());
        this.showError("");
        this.remember();
      } catch (error) {
        this.showError(error.message);
        // All other types are errors of the page, not of the input.
        if (error.name !== "Error") throw error;
      }
    };
    // This is done twice, because the options of one field depend on another.
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
      this.showError("This page needs a browser with WebAssembly: " + error.message);
      throw error;
    }
    this.connectSliders();
    this.form.addEventListener("input", update);
    this.form.addEventListener("change", update);
    window.addEventListener("hashchange", () => {
      clearTimeout(this.writeTimer);
      restore();
      update();
    });
    update();
    document.body.dataset.ready = "true";
  },
};

// Returns the value of a number field, or throws an Error that names the field.
function number(values, name, what) {
  if (Number.isFinite(values[name])) return values[name];
  throw new Error(`${what}: this is not a number`);
}

function whole(values, name, what) {
  const value = number(values, name, what);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new Error(`${what} = ${value}: this must be a whole number, 0 or more`);
}
