"use strict";
// What all pages share: fields of a form, which the address remembers, and sentences about what is wrong.
const $ = (id) => document.getElementById(id);

// Numbers as a reader wants them.
function digits(value, count = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(count - 2).replace("e+", "e");
  return String(Number(value.toPrecision(count)));
}

const page = {
  form: null,

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

  // A slider stands before the number that it moves.
  pair() {
    for (const slider of this.form.querySelectorAll("input[type=range]")) {
      const number = slider.nextElementSibling;
      slider.ariaLabel = number.ariaLabel || slider.closest("label").firstChild.textContent.trim();
      slider.value = number.value;
      slider.addEventListener("input", () => { number.value = slider.value; });
      number.addEventListener("input", () => { slider.value = number.value; });
    }
  },

  remember() {
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
  },

  say(sentence) {
    $("error").textContent = sentence;
    $("error").hidden = !sentence;
  },

  // `prepare` fills the fields, `show` draws what they say, at every change.
  async begin(prepare, show) {
    this.form = $("choices");
    this.form.addEventListener("submit", (event) => event.preventDefault());
    const update = () => {
      try {
        show(this.values());
        this.say("");
        this.remember();
      } catch (error) {
        this.say(error.message.replace(/^error: /, ""));
        // A mistake of the page, not of its reader.
        if (error.name !== "Error") throw error;
      }
    };
    try {
      await kolmo.open();
      prepare();
      this.recall();
      prepare();
      this.recall();
    } catch (error) {
      this.say("This page needs a browser with WebAssembly: " + error.message);
      throw error;
    }
    this.pair();
    this.form.addEventListener("input", update);
    this.form.addEventListener("change", update);
    update();
    document.body.dataset.ready = "true";
  },
};

// A number field, checked: the sentence names it.
function number(values, name, what) {
  if (Number.isFinite(values[name])) return values[name];
  throw new Error(`${what}: this is no number`);
}

function whole(values, name, what) {
  const value = number(values, name, what);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new Error(`${what} = ${value}: this must be a whole number, 0 or more`);
}
