// A report that follows its run: it polls its origin for a newer page, and takes over the changes. Zoom, hidden curves and
// selections stay.
"use strict";
(() => {
  // Milliseconds between two requests; when the run ends it waits ten seconds for one more.
  const [LEAST, MOST] = [2000, 8000];
  let tag = null;
  const state = kolmo.element("p", { class: "following", role: "status" }, "The run is in progress.");
  document.querySelector("main .what").after(state);

  /** Curves of a newer section of the page. Existing plots stay the same objects, even where others are added. */
  function figures(old, fresh, same) {
    for (const figure of fresh.querySelectorAll("figure[id]")) {
      const plot = kolmo.plots.get(figure.id);
      if (!plot) continue;
      plot.figure.querySelector(":scope > svg").replaceWith(figure.querySelector("svg"));
      plot.figure.querySelector("figcaption").replaceWith(figure.querySelector("figcaption"));
      plot.update(JSON.parse(figure.querySelector('script[type="application/json"]').textContent));
      if (!same) figure.replaceWith(plot.figure);
    }
    if (same) return;
    old.replaceChildren(...fresh.childNodes);
    kolmo.start(old);
  }

  function take(fresh) {
    for (const part of fresh.querySelectorAll("main > section")) {
      const old = document.getElementById(part.id);
      const ids = of => [...of.querySelectorAll("figure[id], .plane")].map(one => one.id).join();
      if (part.id === "slices" && ids(part) && ids(part) === ids(old)) {
        kolmo.films.films.forEach((film, id) => film.update(part.querySelector(`#${id}`)));
      } else if (part.querySelector("figure[id]")) {
        figures(old, part, ids(part) === ids(old));
      } else if (part.innerHTML !== old.innerHTML) {
        old.replaceChildren(...part.childNodes);
        kolmo.films.start(old);
      }
    }
  }

  async function follow() {
    const asked = performance.now();
    try {
      const answer = await fetch("/", { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
      if (answer.status === 200) {
        tag = answer.headers.get("ETag");
        take(new DOMParser().parseFromString(await answer.text(), "text/html"));
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
    // A run whose page takes long to draw is polled less often.
    setTimeout(follow, Math.min(MOST, Math.max(LEAST, 10 * (performance.now() - asked))));
  }

  setTimeout(follow, LEAST);
})();
