"""The explorables, opened from the file system: their numbers agree with the program, and all controls work."""

import csv
import json
import os
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

ROOT = Path(__file__).parents[2]
DIST = ROOT / "explorables" / "dist"
PROGRAM = os.environ.get("KOLMO_PROGRAM", ROOT / "target" / "release" / "kolmo")
PAGES = ["waves", "reduction", "inverse", "flow"]


@pytest.fixture
def explorable(page, browser):
    """Opens a page with the fields given in its address, and waits until it is drawn."""

    def opened(name, **fields):
        page("about:blank")
        address = "&".join(f"{key}={value}" for key, value in fields.items())
        page(f"file://{DIST}/{name}.html#{address}")
        WebDriverWait(browser, 30).until(lambda _: browser.find_element(By.TAG_NAME, "body").get_attribute("data-ready"))
        return browser

    return opened


def ask(browser, **question):
    return browser.execute_script("return kolmo.ask(arguments[0])", question)


def enter(browser, name, value):
    """Type into a field, as a reader does."""
    field = browser.find_element(By.NAME, name)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(Keys.BACKSPACE)
    field.send_keys(str(value))


def error(browser):
    return browser.find_element(By.ID, "error").text


def enabled(browser, name):
    return browser.find_element(By.NAME, name).is_enabled()


def slider(browser, name):
    return browser.find_element(By.CSS_SELECTOR, f"input[type=range]:has(+ [name={name}])")


def pixels(browser, canvas):
    return browser.execute_script("return document.querySelector(arguments[0]).toDataURL()", canvas)


def series(tmp_path, case, *changes):
    """The time series of a run of the program."""
    out = tmp_path / "run"
    sets = [word for change in (*changes, "compute.backend=cpu", "output.series={ every_steps = 1 }") for word in ("--set", change)]
    subprocess.run([PROGRAM, "run", case, *sets, "--out", out, "--overwrite"], check=True, capture_output=True, timeout=300)
    with open(out / "series.csv", newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def matrices(browser, name, n, closure=None):
    """A of a scheme on a periodic line of n points, from its coefficients."""
    scheme = next(one for one in ask(browser, about="choices")["schemes"] if one["name"] == name)
    a = np.eye(n)
    for distance, weight in ((1, scheme["alpha"]), (2, scheme["beta"])):
        a += weight * (np.roll(np.eye(n), distance, axis=1) + np.roll(np.eye(n), -distance, axis=1))
    return a


@pytest.mark.parametrize("name", ["index", *PAGES])
def test_a_page_opens_from_a_file_and_loads_only_local_files(page, browser, name):
    page(f"file://{DIST}/{name}.html")
    if name != "index":
        WebDriverWait(browser, 30).until(lambda _: browser.find_element(By.TAG_NAME, "body").get_attribute("data-ready"))
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert all(address.startswith((f"file://{DIST}/", "data:")) for address in loaded), loaded


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_not_wider_than_a_narrow_window(explorable, browser, name):
    browser.set_window_size(500, 900)
    try:
        explorable(name)
        width, window = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
        assert width <= window
    finally:
        browser.set_window_size(1200, 900)


@pytest.mark.parametrize("name", PAGES)
def test_every_field_has_a_name_and_keyboard_focus(explorable, name):
    browser = explorable(name)
    nameless = browser.execute_script(
        "return [...document.querySelectorAll('input, select, textarea')]"
        ".filter((field) => !(field.ariaLabel || field.labels.length) || field.tabIndex < 0).map((field) => field.name)"
    )
    assert nameless == []


def test_a_new_address_of_an_open_page_updates_its_fields(explorable, browser):
    explorable("inverse", scheme="compact8", row=5)
    browser.get(f"file://{DIST}/inverse.html#scheme=compact6&closure=c3-pade4&row=7")
    WebDriverWait(browser, 10).until(lambda _: browser.find_element(By.NAME, "scheme").get_attribute("value") == "compact6")
    assert browser.find_element(By.NAME, "closure").get_attribute("value") == "c3-pade4"
    assert slider(browser, "row").get_attribute("value") == browser.find_element(By.NAME, "row").get_attribute("value") == "7"


def test_the_address_is_written_once_after_many_changes(explorable):
    browser = explorable("waves", points=41)
    browser.execute_script(
        "window.written = []; history.replaceState = (...all) => written.push(all[2]);"
        "const field = document.querySelector('[name=points]');"
        "for (let n = 20; n < 60; n++) { field.value = n; field.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    WebDriverWait(browser, 10).until(lambda _: browser.execute_script("return written.length"))
    assert ["points=59" in address for address in browser.execute_script("return written")] == [True]


def test_modified_wavenumbers_match_lele(explorable):
    browser = explorable("waves")
    symbols = ask(browser, about="symbols")
    w = np.array(symbols["w"])
    compact6 = next(one for one in symbols["families"] if one["name"] == "compact6")
    # Lele 1992, eq. 2.1.7 and 2.2.7.
    first = (14 / 9 * np.sin(w) + 1 / 18 * np.sin(2 * w)) / (1 + 2 / 3 * np.cos(w))
    second = (24 / 11 * (1 - np.cos(w)) + 3 / 22 * (1 - np.cos(2 * w))) / (1 + 4 / 11 * np.cos(w))
    np.testing.assert_allclose(compact6["first"], first, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(compact6["second"], second, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("scheme, integrator, diffusivity", [("compact6", "rk4", 0.0), ("compact8", "hale64", 0.3)])
def test_the_time_step_bound_matches_the_program(explorable, tmp_path, scheme, integrator, diffusivity):
    n = 32
    h = 2 * np.pi / n
    browser = explorable("waves", scheme=scheme, integrator=integrator, diffusion=diffusivity / h, points=n)
    bound = browser.execute_script("return shown.bound")
    rows = series(
        tmp_path, "scalar-advection", f"grid.points=[{n},1,1]", "case.velocity=[1.0,0.0,0.0]", "case.shape=\"sine\"",
        f"case.diffusivity={diffusivity}", f"scheme.derivative=\"{scheme}\"", f"time.integrator=\"{integrator}\"",
        "time.cfl=1.0", "time.end=2.0",
    )
    assert rows[1]["dt"] / h == pytest.approx(bound, rel=1e-12)


def test_a_time_step_beyond_the_limit_is_shown_as_unstable(explorable):
    browser = explorable("waves", scheme="compact6", integrator="rk4", courant=1.0)
    numbers = browser.find_element(By.ID, "numbers")
    before = pixels(browser, "#plane canvas")
    assert "unstable" not in numbers.text
    # sqrt(8) divided by the largest k'h of all waves, and of the waves on a line of 41 points.
    w = 2 * np.pi * np.arange(21) / 41
    largest = max((14 / 9 * np.sin(w) + 1 / 18 * np.sin(2 * w)) / (1 + 2 / 3 * np.cos(w)))
    assert browser.execute_script("return shown.bound") == pytest.approx(8**0.5 / 1.989441, rel=1e-6)
    assert browser.execute_script("return shown.found") == pytest.approx(8**0.5 / largest, rel=1e-6)
    enter(browser, "courant", 1.6)
    assert "unstable" in numbers.text
    assert pixels(browser, "#plane canvas") != before
    browser.find_element(By.ID, "limit").click()
    assert "unstable" not in numbers.text


def test_the_phase_is_continuous_and_the_plane_contains_the_stability_region(explorable):
    browser = explorable("waves", scheme="compact6", integrator="hale64", courant=2.2)
    w, phase, limit = browser.execute_script("return [shown.w, shown.phase, shown.imaginary_limit]")
    turned = 2.2 * np.array(w) * np.array(phase)
    # The phase of the waves with the largest k'h changes by more than π; the wave with two points per wavelength does not move.
    assert turned.max() > np.pi and turned[-1] == pytest.approx(0, abs=1e-9)
    assert abs(np.diff(turned, prepend=0)).max() < 1
    assert browser.execute_script("return plane.y.max") > limit


@pytest.mark.parametrize("closure, rightmost", [("c3-pade4", -1.2e-4), ("c4-pade4", 7.0e-3), ("e6-pade4", 0.27)])
def test_eigenvalues_of_closures_match_the_documented_values(explorable, closure, rightmost):
    browser = explorable("waves", scheme="compact6", closure=closure, points=41)
    assert browser.execute_script("return shown.rightmost") == pytest.approx(rightmost, rel=0.05)


def test_rows_of_the_inverse_and_truncation_errors_match_numpy(explorable):
    browser = explorable("inverse", scheme="compact6", points=32, row=5)
    answer = ask(browser, about="inverse", line={"scheme": "compact6", "alpha": None, "closure": None, "points": 32}, row=5, keep=4)
    inverse = np.linalg.inv(matrices(browser, "compact6", 32))
    np.testing.assert_allclose(answer["row"], inverse[5], atol=1e-15)
    # Truncation error of the wave with four points per wavelength, also computed directly.
    w = np.array(answer["w"])
    k = int(np.argmin(abs(w - np.pi / 2)))
    j = np.arange(32)
    right = 14 / 9 * 1j * np.sin(w[k]) + 1 / 9 * 0.5j * np.sin(2 * w[k])
    far = np.minimum(abs(j - 5), 32 - abs(j - 5)) > 4
    truncated = abs(np.sum(inverse[5][far] * np.exp(1j * w[k] * j[far]))) * abs(right) / w[k]
    assert answer["cut"][k] == pytest.approx(truncated, rel=1e-10)


def test_axes_of_the_inverse_contain_their_curves(explorable):
    browser = explorable("inverse", scheme="compact6", closure="c6-c6")
    for name in ["decay", "cost"]:
        most, top = browser.execute_script(
            f"return [Math.max(...{name}.series.filter((one) => one.name !== 'formula').flatMap((one) => one.y)), {name}.y.max]"
        )
        assert most <= top <= 10 * most


def test_the_maximum_of_a_slider_is_the_last_row(explorable):
    browser = explorable("inverse", points=64)
    enter(browser, "points", 40)
    assert slider(browser, "row").get_attribute("max") == "39"
    browser = explorable("reduction", method="cyclic", points=16)
    assert slider(browser, "row").get_attribute("max") == "14"
    Select(browser.find_element(By.NAME, "method")).select_by_value("ranks")
    assert slider(browser, "row").get_attribute("max") == "5"


def test_fields_without_effect_are_disabled(explorable):
    browser = explorable("waves")
    assert not enabled(browser, "alpha") and not slider(browser, "alpha").is_enabled()
    browser.find_element(By.NAME, "filtered").click()
    assert enabled(browser, "alpha") and slider(browser, "alpha").is_enabled()
    browser = explorable("inverse")
    assert not enabled(browser, "alpha")
    Select(browser.find_element(By.NAME, "scheme")).select_by_value("tridiagonal")
    assert enabled(browser, "alpha")
    browser = explorable("reduction", method="parallel")
    assert not enabled(browser, "ranks") and enabled(browser, "power")
    Select(browser.find_element(By.NAME, "method")).select_by_value("ranks")
    assert enabled(browser, "ranks") and not enabled(browser, "power")


@pytest.mark.parametrize("scheme", ["compact6", "compact10-penta"])
def test_levels_of_parallel_reduction_solve_the_system(explorable, scheme):
    browser = explorable("reduction")
    line = {"scheme": scheme, "alpha": None, "closure": None, "points": 31}
    answer = ask(browser, about="reduction", line=line, tolerance=1e-16)
    n, half = answer["rows"], answer["half_band"]
    core = np.array([[answer["matrix"][m][2 + c - m] if abs(c - m) <= 2 else 0.0 for c in range(n)] for m in range(n)])
    d = np.cos(np.arange(n) ** 2)
    x = d.copy()
    for level, rows in enumerate(answer["parallel"]):
        offsets = [o * 2**level for o in ((-1, 1) if half == 1 else (-2, -1, 1, 2))]
        before = x.copy()
        for i, k in enumerate(rows):
            x[i] -= sum(kj * before[i + o] for kj, o in zip(k, offsets) if 0 <= i + o < n)
    x *= answer["inverse"]
    np.testing.assert_allclose(core @ x, d, atol=1e-13)


@pytest.mark.parametrize("scheme", ["compact6", "compact10-penta"])
def test_drawn_edges_of_parallel_reduction_solve_the_system(explorable, scheme):
    browser = explorable("reduction", method="parallel", scheme=scheme, points=31, power=-16)
    answer = ask(browser, about="reduction", line={"scheme": scheme, "alpha": None, "closure": None, "points": 31}, tolerance=1e-16)
    n = answer["rows"]
    core = np.array([[answer["matrix"][m][2 + c - m] if abs(c - m) <= 2 else 0.0 for c in range(n)] for m in range(n)])
    d = np.sin(np.arange(n) ** 2)
    x = d.copy()
    *levels, last = browser.execute_script("return stages.map(({ edges, table }) => [edges, table])")
    for edges, table in levels:
        before = x.copy()
        for source, target, k in edges:
            x[target] -= k * before[source]
            # The table of this level contains the same coefficient for that row.
            assert k in table[target][1:] and table[target][0] == target
    x *= [one for _, one in last[1]]
    np.testing.assert_allclose(core @ x, d, atol=1e-13)
    drawn = browser.find_elements(By.CSS_SELECTOR, "#net line.edge")
    assert len(drawn) == sum(len(edges) for edges, _ in levels)


def test_cyclic_reduction_is_shown_level_by_level(explorable):
    browser = explorable("reduction", method="cyclic", points=16)
    explanation = browser.find_element(By.ID, "explanation")
    seen = [explanation.text]
    while browser.find_element(By.ID, "next").is_enabled():
        browser.find_element(By.ID, "next").click()
        seen.append(explanation.text)
    # 15 rows: three levels to one row, and three back.
    assert len(seen) == 7 and len(set(seen)) >= 6
    assert seen[0].startswith("forward 0") and seen[3].startswith("last row") and seen[-1].startswith("back 0")


def test_the_focus_moves_to_the_other_button_at_the_last_level(explorable):
    browser = explorable("reduction", method="cyclic", points=16)
    browser.find_element(By.ID, "next").send_keys(Keys.ENTER)
    while browser.find_element(By.ID, "next").is_enabled():
        browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.switch_to.active_element.get_attribute("id") == "back"


def test_a_tolerance_stops_parallel_reduction_early(explorable):
    browser = explorable("reduction", method="parallel", points=64, power=-16)
    levels = browser.execute_script("return stages.length")
    enter(browser, "power", -4)
    assert browser.execute_script("return stages.length") < levels


def test_every_sent_message_of_a_rank_is_received(explorable):
    browser = explorable("reduction", method="ranks", ranks=6, points=16)
    answer = ask(browser, about="ranks", scheme="compact6", closure=None, ranks=6, points=16)
    sent = {(at, rank, to) for rank, it in enumerate(answer["ranks"]) for at, one in enumerate(it["rounds"]) for to in one["sends"]}
    received = {(at, of, rank) for rank, it in enumerate(answer["ranks"]) for at, one in enumerate(it["rounds"]) for of in one["receives"]}
    assert sent == received
    # Six rows: reduced to three, one detached, reduced to one, then back substitution: tail, reduce, detach, reduce, reattach, head.
    assert [one["phase"] for one in answer["ranks"][0]["rounds"]] == ["tail", "reduce", "detach", "reduce", "reattach", "head"]
    assert len(browser.find_elements(By.CSS_SELECTOR, "#net line.edge")) == len(sent)
    assert len(browser.find_elements(By.CSS_SELECTOR, "#rows tr")) > 0


CHANGES = ["grid.points=[32,32,1]", "scheme.derivative=\"compact6\"", "scheme.convection=\"kennedy-gruber\"", "scheme.energy=\"split-pressure\"",
           "scheme.filter={ order = 8, alpha = 0.495 }", "time.integrator=\"hale64\"", "time.cfl=0.8"]


@pytest.mark.parametrize("case", ["double-shear-layer", "lid-driven-cavity"])
def test_a_flow_matches_a_run_of_the_program(explorable, tmp_path, case):
    browser = explorable("flow", case=case, points=32, filter="{ order = 8, alpha = 0.495 }".replace(" ", "%20"))
    for _ in range(10):
        browser.find_element(By.ID, "once").click()
    row = json.loads(browser.find_element(By.TAG_NAME, "body").get_attribute("data-row"))
    expected = series(tmp_path, case, *CHANGES, "time.max_steps=10")[10]
    assert row["step"] == 10
    # Round-off differs between processors.
    for name in ["time", "kinetic_energy", "enstrophy", "total_energy", "max_mach", "min_density"]:
        assert row[name] == pytest.approx(expected[name], rel=1e-9), name


def test_a_running_flow_conserves_mass_and_energy(explorable):
    browser = explorable("flow", case="double-shear-layer", points=32)
    picture = pixels(browser, "#field")
    first = browser.execute_script("return flow.rows[0]")
    browser.find_element(By.ID, "run").click()
    WebDriverWait(browser, 60).until(lambda _: browser.execute_script("return flow.rows.at(-1)[0]") > 50)
    browser.find_element(By.ID, "run").click()
    last = browser.execute_script("return flow.rows.at(-1)")
    columns = browser.execute_script("return flow.columns")
    for name in ["mass", "total_energy"]:
        at = columns.index(name)
        assert last[at] == pytest.approx(first[at], rel=1e-12)
    assert pixels(browser, "#field") != picture
    steps = browser.execute_script("return flow.rows.at(-1)[0]")
    assert browser.execute_script("return flow.rows.at(-1)[0]") == steps


def test_the_field_changes_the_picture_and_the_scheme_the_command(explorable):
    browser = explorable("flow", case="isentropic-vortex", points=32)
    seen = [pixels(browser, "#field")]
    for name in ["density", "pressure", "temperature"]:
        Select(browser.find_element(By.NAME, "field")).select_by_visible_text(name)
        seen.append(pixels(browser, "#field"))
    assert len(set(seen)) == 4
    command = browser.find_element(By.ID, "command").text
    Select(browser.find_element(By.NAME, "scheme")).select_by_visible_text("compact8")
    assert browser.find_element(By.ID, "command").text == command.replace("compact6", "compact8")


def test_the_command_of_a_flow_is_quoted_for_a_shell(explorable):
    browser = explorable("flow", case="custom", points=16)
    key = "case.u = 'sin(y)'"
    enter(browser, "more", key)
    words = shlex.split(browser.find_element(By.ID, "command").text)
    assert words[:3] == ["kolmo", "run", "custom"] and words[-1] == key


@pytest.mark.parametrize(
    "name, field, value, message",
    [
        ("waves", "courant", "-1", "c dt / h must be more than 0"),
        ("waves", "courant", "", "this is not a number"),
        ("waves", "points", "3", "from 4 to 256"),
        ("waves", "points", "12.5", "whole number"),
        ("inverse", "row", "200", "the last of 64 is 63"),
        ("inverse", "points", "1000", "takes"),
        ("reduction", "points", "2", "takes"),
        ("reduction", "row", "40", "the last of 30 is 29"),
        ("reduction", "power", "3", "must be less than 0"),
        ("reduction", "power", "1e9", "must be less than 0"),
        ("flow", "points", "4", "points"),
        ("flow", "points", "4096", "a page computes"),
        ("flow", "cfl", "-2", "cfl"),
        ("flow", "more", "scheme.derivatve = 3", "did you mean"),
    ],
)
def test_an_invalid_value_shows_an_error_until_it_is_corrected(explorable, name, field, value, message):
    browser = explorable(name)
    before = browser.find_element(By.NAME, field).get_attribute("value")
    enter(browser, field, value)
    assert message in error(browser)
    assert "nothing was run" not in error(browser)
    enter(browser, field, before)
    if field != "more" or before:
        assert error(browser) == ""


def test_a_diverged_flow_shows_an_error_and_can_be_restarted(explorable):
    browser = explorable("flow", case="double-shear-layer", points=24, more="time.dt=0.1")
    browser.find_element(By.ID, "run").click()
    WebDriverWait(browser, 60).until(lambda _: error(browser))
    assert "diverged at step" in error(browser) and "intact" not in error(browser)
    assert browser.find_element(By.ID, "run").text == "Run"
    browser.find_element(By.ID, "restart").click()
    assert error(browser) == ""
