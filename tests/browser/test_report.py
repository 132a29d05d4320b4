"""The interactive report: values under the pointer, zoom, logarithmic axes, the animation of slices, and live reports."""

import csv
import os
import re
import subprocess
import time
from math import cos, pi, sin
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PROGRAM = os.environ.get("KOLMO_PROGRAM", "kolmo")
SMALL = [
    "--set=grid.points=[12,12,12]",
    "--set=output.series={ every_steps = 1 }",
    "--set=compute.threads=1",
    "--set=compute.tune=false",
    "--set=compute.backend=cpu",
]
ENERGY = "plot-kinetic_energy"


def kolmo(*arguments, code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The Taylor-Green vortex on few points, with pictures at six times and spectra at three."""
    directory = tmp_path_factory.mktemp("runs") / "vortex"
    kolmo(
        "run", "taylor-green", *SMALL, "--out", directory, "--set=time.end=1",
        "--set=output.fields={ every_time = 0.2 }", '--set=output.statistics={ every_time = 0.5, quantities = ["spectra"] }',
    )  # fmt: skip
    return directory


def address(path):
    return Path(path).resolve().as_uri()


def column(directory, name):
    with open(directory / "series.csv") as file:
        return [float(row[name]) for row in csv.DictReader(file)]


def number(text):
    """Parses a number as formatted by the page."""
    text = text.replace("−", "-").replace("·10", "e")
    return float(text.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")))


def over(browser, figure):
    """The element of a plot that receives pointer events, scrolled to the middle of the window."""
    element = browser.find_element(By.CSS_SELECTOR, f"#{figure} .u-over")
    browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", element)
    return element


def drag(browser, plot, start, end):
    """Drags from one point to another, given as fractions of width and height from the middle."""
    at = lambda part, size: round(part * size)
    width, height = plot.size["width"], plot.size["height"]
    chain = ActionChains(browser, duration=20).move_to_element_with_offset(plot, at(start[0], width), at(start[1], height))
    chain.click_and_hold().move_to_element_with_offset(plot, at(end[0], width), at(end[1], height)).release().perform()


def scale(browser, figure, axis):
    """(from, to, whether it is logarithmic) of an axis."""
    asked = "const s = kolmo.plots.get(arguments[0]).plot.scales[arguments[1]]; return [s.min, s.max, s.distr === 3]"
    return browser.execute_script(asked, figure, axis)


def tool(browser, figure, text):
    buttons = browser.find_elements(By.CSS_SELECTOR, f"#{figure} .tools button")
    return next(button for button in buttons if button.text == text)


def reading(browser, figure):
    """The values shown at the pointer, line by line."""
    asked = "return [...document.querySelectorAll(`#${arguments[0]} .reading > div`)].map(line => line.textContent)"
    return browser.execute_script(asked, figure)


def press(browser, button):
    browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", button)
    button.click()


# The axis of small numbers is scaled by a power of ten; the value at the pointer is not.
@pytest.mark.parametrize("figure, name, curve", [(ENERGY, "kinetic_energy", "this run"), ("plot-dissipation", "dissipation", "from gradients")])
def test_the_value_at_the_pointer_is_that_of_the_series_at_that_time(browser, page, run, figure, name, curve):
    page(address(run / "report.html"))
    times, values = column(run, "time"), column(run, name)
    plot = over(browser, figure)
    seen = set()
    for part in (-0.4, -0.1, 0.3):
        ActionChains(browser, duration=20).move_to_element_with_offset(plot, round(part * plot.size["width"]), 10).perform()
        lines = reading(browser, figure)
        at = number(re.fullmatch(r"t = (.*)", lines[0])[1])
        assert lines[1].startswith(curve), lines
        value = number(lines[1].split(": ")[-1])
        row = min(range(len(times)), key=lambda row: abs(times[row] - at))
        assert (at, value) == tuple(float(f"{exact:.6g}") for exact in (times[row], values[row])), (lines, row)
        seen.add(row)
    assert len(seen) == 3
    ActionChains(browser, duration=20).move_to_element(browser.find_element(By.TAG_NAME, "h1")).perform()
    assert not browser.find_element(By.CSS_SELECTOR, f"#{figure} .reading").is_displayed()


def test_dragging_zooms_and_a_double_click_resets_the_axes(browser, page, run):
    page(address(run / "report.html"))
    whole = scale(browser, ENERGY, "x"), scale(browser, ENERGY, "y")
    plot = over(browser, ENERGY)
    drag(browser, plot, (-0.25, -0.25), (0.25, 0.25))
    for axis, (low, high, _) in zip("xy", whole):
        zoomed = scale(browser, ENERGY, axis)
        assert low < zoomed[0] < zoomed[1] < high and zoomed[1] - zoomed[0] < 0.6 * (high - low), (axis, zoomed)
    ActionChains(browser, duration=20).double_click(plot).perform()
    assert (scale(browser, ENERGY, "x"), scale(browser, ENERGY, "y")) == whole
    drag(browser, plot, (-0.25, 0.0), (0.25, 0.0))
    assert scale(browser, ENERGY, "x") != whole[0]
    press(browser, tool(browser, ENERGY, "whole"))
    assert scale(browser, ENERGY, "x") == whole[0]


def test_logarithmic_axes_preserve_the_zoom(browser, page, run):
    page(address(run / "report.html"))
    assert [scale(browser, "plot-spectra", axis)[2] for axis in "xy"] == [True, True]
    figure = "plot-dissipation"
    assert not scale(browser, figure, "y")[2]
    drag(browser, over(browser, figure), (-0.2, 0.0), (0.3, 0.0))
    zoomed = scale(browser, figure, "x")
    button = tool(browser, figure, "log y")
    press(browser, button)
    low, _, logarithmic = scale(browser, figure, "y")
    assert logarithmic and low > 0 and button.get_attribute("aria-pressed") == "true"
    assert scale(browser, figure, "x") == zoomed
    # Time starts at 0, which is not on a logarithmic axis.
    press(browser, tool(browser, figure, "whole"))
    press(browser, tool(browser, figure, "log x"))
    assert scale(browser, figure, "x")[0] == pytest.approx(column(run, "time")[1])
    press(browser, tool(browser, figure, "log y"))
    assert not scale(browser, figure, "y")[2]


def test_curves_can_be_hidden_and_spectra_at_other_times_added(browser, page, run):
    page(address(run / "report.html"))
    shown = "return kolmo.plots.get(arguments[0]).plot.series.slice(1).map(s => [s.label, s.show])"
    keys = browser.find_elements(By.CSS_SELECTOR, "#plot-dissipation .legend button")
    first = keys[0].text
    press(browser, keys[0])
    assert [first, False] in browser.execute_script(shown, "plot-dissipation")
    before = browser.execute_script(shown, "plot-spectra")
    slider = browser.find_element(By.CSS_SELECTOR, "#plot-spectra .tools input")
    assert slider.get_attribute("value") == slider.get_attribute("max") == "2"
    browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", slider)
    slider.send_keys(Keys.HOME)
    after = browser.execute_script(shown, "plot-spectra")
    assert len(after) == len(before) + 1 and after[-1][0] == "t = 0.00", after


def shown_picture(browser, plane):
    pictures = browser.find_elements(By.CSS_SELECTOR, f"#{plane} .slices figure")
    shown = [picture for picture in pictures if picture.is_displayed()]
    assert len(shown) == 1
    return shown[0]


def test_the_slider_selects_the_slice_and_all_slices_share_a_colour_scale(browser, page, run):
    page(address(run / "report.html"))
    plane = "plane-vorticity-magnitude-xy"
    slider = browser.find_element(By.CSS_SELECTOR, ".film input")
    browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", slider)
    bar = browser.find_element(By.CSS_SELECTOR, f"#{plane} .colours")
    pictures, labels, bars = set(), [], set()
    assert slider.get_attribute("value") == slider.get_attribute("max") == "5"
    slider.send_keys(Keys.HOME)
    for _ in range(int(slider.get_attribute("max")) + 1):
        picture = shown_picture(browser, plane)
        pictures.add(picture.find_element(By.TAG_NAME, "img").get_attribute("src"))
        labels.append(browser.find_element(By.CSS_SELECTOR, ".film output").text)
        assert f"t = {float(picture.get_attribute('data-time')):.4g}, step {picture.get_attribute('data-step')}" == labels[-1]
        bars.add(bar.get_attribute("innerHTML"))
        slider.send_keys(Keys.RIGHT)
    assert len(pictures) == len(set(labels)) == 6 and len(bars) == 1, labels
    assert [axis.text for axis in shown_picture(browser, plane).find_elements(By.CSS_SELECTOR, ".axis b")] == ["y / L", "x / L"]
    assert "in V₀/L" in bar.text


FLOW = """
[case]
name = "custom"
mach = 0.1
reynolds = 100.0
u = "cos(2*pi*y/ly) + 0.5*sin(4*pi*y/ly)"
v = "sin(2*pi*x/lx) + 0.5*cos(4*pi*x/lx)"
p = "p0"
[grid]
points = [96, 64, 1]
length = [1.0, 1.0, 1.0]
[time]
max_steps = 1
[output]
fields = { every_steps = 1 }
"""


def vorticity(x, y):
    """|dv/dx - du/dy| of that flow, which differs if flipped along x or y, or with x and y exchanged."""
    return abs(2 * pi * (cos(2 * pi * x) - sin(4 * pi * x) + sin(2 * pi * y) - cos(4 * pi * y)))


def test_slices_show_values_at_the_pointer_and_profiles(browser, page, tmp_path):
    (tmp_path / "flow.toml").write_text(FLOW)
    kolmo("run", tmp_path / "flow.toml", "--out", tmp_path / "flow", "--set=compute.backend=cpu")
    page(address(tmp_path / "flow" / "report.html"))
    browser.find_element(By.CSS_SELECTOR, ".film input").send_keys(Keys.HOME)
    plane = "plane-vorticity-magnitude-xy"
    picture = shown_picture(browser, plane).find_element(By.TAG_NAME, "img")
    browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", picture)
    least, most = map(float, browser.find_element(By.ID, plane).get_attribute("data-scale").split())
    # A colour scale has 256 steps, and pictures are interpolated: h^2/8 of the second derivative along each axis.
    tolerance = (most - least) / 250 + 0.1
    for part in [(-0.3, -0.35), (0.1, 0.25), (0.4, -0.1)]:
        offset = [round(share * picture.size[side]) for share, side in zip(part, ("width", "height"))]
        ActionChains(browser, duration=20).move_to_element_with_offset(picture, *offset).perform()
        shown = browser.find_element(By.CSS_SELECTOR, f"#{plane} .value").text
        x, y, value = map(number, re.fullmatch(r"x = (.*), y = (.*): vorticity magnitude ≈ (.*) V₀/L", shown).groups())
        # The picture starts half a spacing before the first point; its top is the largest y.
        assert x == pytest.approx(0.5 + part[0] - 1 / 192, abs=5e-3) and y == pytest.approx(0.5 - part[1] - 1 / 128, abs=5e-3), shown
        assert value == pytest.approx(vorticity(x, y), abs=tolerance), shown
    picture.click()
    lines = browser.find_elements(By.CSS_SELECTOR, f"#{plane} .profiles .title")
    assert [re.sub(r"= .*", "= ?", line.text) for line in lines] == ["Along x at y = ?", "Along y at x = ?"]
    asked = "return [...kolmo.films.films.values()][0].planes[0].lines.map(({ data }) => [data.x[0], data.curves[0].y])"
    (x, along_x), (y, along_y) = browser.execute_script(asked)
    at_y, at_x = [number(line.text.split("= ")[1]) for line in lines]
    # The mean error is compared, because the magnitude has a kink where the vorticity changes its sign.
    for found, exact in [(along_x, [vorticity(one, at_y) for one in x]), (along_y, [vorticity(at_x, one) for one in y])]:
        assert sum(abs(a - b) for a, b in zip(found, exact)) / len(found) < tolerance


def test_points_inside_a_body_have_no_values(browser, page, tmp_path):
    kolmo("run", "cylinder", "--out", tmp_path / "body", "--set=grid.points=[32,17,1]", "--set=time.max_steps=1",
          "--set=output.fields={ every_steps = 1 }", "--set=compute.backend=cpu")  # fmt: skip
    page(address(tmp_path / "body" / "report.html"))
    plane = browser.find_element(By.CSS_SELECTOR, ".plane")
    picture = next(one for one in plane.find_elements(By.TAG_NAME, "img") if one.is_displayed())
    browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", picture)
    figure = picture.find_element(By.XPATH, "./ancestor::figure[@data-edges]")
    left, right, *_ = map(float, figure.get_attribute("data-edges").split())
    # The body is a cylinder of radius 1/2 at the origin; y = 0 is in the middle of the picture.
    for x, has_value in [(0.0, False), (0.4, False), (0.7, True)]:
        offset = round(((x - left) / (right - left) - 0.5) * picture.size["width"])
        ActionChains(browser, duration=20).move_to_element_with_offset(picture, offset, 0).perform()
        shown = plane.find_element(By.CSS_SELECTOR, ".value").text
        assert ("≈" in shown) == has_value and shown.endswith(": no value") != has_value, shown


def test_the_page_is_complete_without_scripts_and_in_print(browser, page, run):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page(address(run / "report.html"))
        # The driver queries a page by scripts, which are disabled too, so the DevTools protocol is used instead.
        root = browser.execute_cdp_cmd("DOM.getDocument", {})["root"]["nodeId"]
        of = lambda selector: browser.execute_cdp_cmd("DOM.querySelectorAll", {"nodeId": root, "selector": selector})["nodeIds"]
        box = lambda node: browser.execute_cdp_cmd("DOM.getBoxModel", {"nodeId": node})["model"]
        drawings = of(".plots figure > svg")
        assert len(drawings) >= 5 and all(box(node)["height"] > 100 for node in drawings)
        assert not of(".live") and all(box(node)["width"] > 50 for node in of(".slices figure:not(.extra) img"))
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    page(address(run / "report.html"))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert browser.find_element(By.CSS_SELECTOR, f"#{ENERGY} > svg").is_displayed()
        assert not browser.find_element(By.CSS_SELECTOR, f"#{ENERGY} .live").is_displayed()
        assert not browser.find_element(By.CSS_SELECTOR, ".film").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_diverged_run_is_plotted_up_to_its_last_finite_values(browser, page, tmp_path):
    directory = tmp_path / "broken"
    kolmo("run", "taylor-green", *SMALL, "--out", directory, "--set=time.max_steps=5")
    # The last rows of the series of a diverged run contain NaN and inf.
    text = (directory / "series.csv").read_text().splitlines()
    rows = [",".join(row.split(",")[:3] + [word] * (len(row.split(",")) - 3)) for row, word in zip(text[-2:], ("NaN", "inf"))]
    (directory / "series.csv").write_text("\n".join(text[:-2] + rows) + "\n")
    kolmo("plot", directory)
    page(address(directory / "report.html"))
    plot = over(browser, ENERGY)
    ActionChains(browser, duration=20).move_to_element_with_offset(plot, round(0.49 * plot.size["width"]), 0).perform()
    assert reading(browser, ENERGY)[1] == "this run: no number"
    low, high, _ = scale(browser, ENERGY, "y")
    assert 0 <= low < high < 1


def live(directory, *more):
    """Starts a run that serves its report; returns the process and the address."""
    command = [PROGRAM, "run", "taylor-green", *SMALL, "--out", str(directory), "--live", *more]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
            return process, found[0]
    raise AssertionError(f"no address; exit code {process.wait()}")


def test_a_live_report_is_updated_until_the_run_ends(browser, page, tmp_path):
    directory = tmp_path / "live"
    process, url = live(directory, "--set=time.end=30", "--set=time.dt=0.01")
    try:
        rows = "return kolmo.plots.get(arguments[0]).data.x[0].length"
        page(url)
        limit = time.monotonic() + 120

        def wait(until):
            while not until():
                assert time.monotonic() < limit and (process.poll() is None or until())
                time.sleep(0.2)

        # While the run is still starting, the page retries by itself.
        ready = "return typeof kolmo !== 'undefined' && kolmo.plots.has(arguments[0])"
        wait(lambda: browser.execute_script(ready, ENERGY))
        press(browser, tool(browser, ENERGY, "log y"))
        first = browser.execute_script(rows, ENERGY)
        wait(lambda: browser.execute_script(rows, ENERGY) > first)
        second = browser.execute_script(rows, ENERGY)
        wait(lambda: browser.execute_script(rows, ENERGY) > second)
        assert scale(browser, ENERGY, "y")[2], "an updated page must preserve the chosen axes"
        assert "in progress" in browser.find_element(By.ID, "state").text
        assert not (directory / "report.html").exists()
        process.send_signal(2)
        assert process.wait(60) == 3
        wait(lambda: "has ended" in browser.find_element(By.CSS_SELECTOR, ".following").text)
        assert browser.execute_script(rows, ENERGY) == len(column(directory, "time"))
        assert "Not finished" in browser.find_element(By.ID, "state").text
        assert (directory / "report.html").exists()
    finally:
        process.kill()
        process.wait()


def test_a_report_of_several_runs_has_a_curve_for_each(browser, page, run, tmp_path):
    other = tmp_path / "other"
    kolmo("run", "taylor-green", *SMALL, "--out", other, "--set=time.end=1", "--set=scheme.derivative=compact4")
    kolmo("plot", run, other, "--out", tmp_path / "both.html")
    page(address(tmp_path / "both.html"))
    labels = browser.execute_script("return kolmo.plots.get('plot-kinetic_energy').plot.series.slice(1).map(s => s.label)")
    assert labels[:2] == ["vortex, derivative = compact6", "other, derivative = compact4"]
    assert len(labels) == len(browser.find_elements(By.CSS_SELECTOR, f"#{ENERGY} .legend button")) <= 3
    plot = over(browser, ENERGY)
    ActionChains(browser, duration=20).move_to_element(plot).perform()
    lines = reading(browser, ENERGY)
    assert sum(line.startswith(tuple(labels[:2])) for line in lines) == 2, lines


@pytest.mark.parametrize("width", (1200, 380))
def test_the_report_is_not_wider_than_the_window(browser, page, run, width):
    browser.set_window_size(width, 900)
    try:
        page(address(run / "report.html"))
        time.sleep(0.3)
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.execute_script(wide) <= 0
    finally:
        browser.set_window_size(1200, 900)
