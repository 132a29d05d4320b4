// The report of a run in progress: it polls its origin for a newer page and applies the changes. Zoom, hidden curves and selections
// stay.
"use strict";
(() => {
  // Smallest and largest delay between two requests in milliseconds. At its end the run waits ten seconds for one more request.
  const [MIN_DELAY, MAX_DELAY] = [2000, 8000];
  let tag = null;
  const state = kolmo.element("p", { class: "following", role: "status" }, "The run is in progress.");
  document.querySelector("main .what").after(state);

  /** Updates the curves of a section from a newer page. Existing plots stay the same objects, even if others are added. */
  function updateFigures(old, fresh, unchanged) {
    for (const figure of fresh.querySelectorAll("figure[id]")) {
      const plot = kolmo.plots.get(figure.id);
      if (!plot) continue;
      plot.figure.querySelector(":scope > svg").replaceWith(figure.querySelector("svg"));
      plot.figure.querySelector("figcaption").replaceWith(figure.querySelector("figcaption"));
      plot.update(JSON.parse(figure.querySelector('script[type="application/json"]').textContent));
      if (!unchanged) figure.replaceWith(plot.figure);
    }
    if (unchanged) return;
    old.replaceChildren(...fresh.childNodes);
    kolmo.start(old);
  }

  /** Replaces the sections that differ in a newer page. */
  function applyChanges(fresh) {
    for (const part of fresh.querySelectorAll("main > section")) {
      const old = document.getElementById(part.id);
      const ids = of => [...of.querySelectorAll("figure[id], .plane")].map(one => one.id).join();
      if (part.id === "slices" && ids(part) && ids(part) === ids(old)) {
        kolmo.films.films.forEach((film, id) => film.update(part.querySelector(`#${id}`)));
      } else if (part.querySelector("figure[id]")) {
        updateFigures(old, part, ids(part) === ids(old));
      } else if (part.innerHTML !== old.innerHTML) {
        old.replaceChildren(...part.childNodes);
        kolmo.films.start(old);
      }
    }
  }

  async function poll() {
    const start = performance.now();
    try {
      const answer = await fetch("/", { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
      if (answer.status === 200) {
        tag = answer.headers.get("ETag");
        applyChanges(new DOMParser().parseFromString(await answer.text(), "text/html"));
        if (answer.headers.get("Kolmo-Run") === "ended") {
          state.textContent = "The run has ended. This page is the whole report; report.html in the run directory is the same.";
          return;
        }
      }
    } catch {
      state.textContent = "The run does not answer: it has ended, or was killed. `kolmo plot` of its directory draws what it left.";
      state.classList.add("lost");
      return;
    }
    // A run is polled less often if its page takes longer to draw.
    setTimeout(poll, Math.min(MAX_DELAY, Math.max(MIN_DELAY, 10 * (performance.now() - start))));
  }

  setTimeout(poll, MIN_DELAY);
})();
