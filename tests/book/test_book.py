"""The scripts that build the book. The docstring of each test names the errors that only this test catches."""

import nbformat
import pytest

LESSON = """\
# A lesson

```sh
kolmo coefficient
```
Text with {{ 2 + 3 }} and $a = {{ float(open("b.txt").read()):.2f }}$.

<details><summary>Solution</summary>

```python hide
print("hidden")
```
</details>
"""


@pytest.fixture
def build(tmp_path):
    """Executes a lesson; returns its page and its notebook."""
    from book import cells, lesson, page

    def run(text):
        parts = lesson.parts("docs/lessons/trial.md", text)
        results = cells.run("trial", parts, tmp_path / "cells")
        return page.page("trial", parts, results, tmp_path), page.notebook(parts, results)

    return run


def test_a_lesson_is_executed_again_only_if_the_program_changes(build, program, tmp_path):
    """Catches cached numbers of an older program, and numbers that are not computed."""
    count = tmp_path / "count"
    program(f'echo x >>{count}; echo "a = 14/9"; echo 1.5556 >b.txt')
    before, notebook = build(LESSON)
    assert "a = 14/9" in before and "Text with 5 and" in before and ">1.56<" in before and "hidden" in before
    assert 'print("hidden")' not in before
    assert build(LESSON)[0] == before and count.read_text() == "x\n"
    program(f'echo x >>{count}; echo "a = 15/9"; echo 1.6667 >b.txt')
    after, _ = build(LESSON)
    assert after == before.replace("14/9", "15/9").replace("1.56", "1.67")
    # The notebook has no outputs, contains the numbers in its text, and runs shell blocks in a shell.
    nbformat.validate(notebook)
    assert "Text with 5 and $a = 1.56$" in notebook.cells[1].source + notebook.cells[2].source
    assert any(cell.source == "%%bash -e\nkolmo coefficient" for cell in notebook.cells)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    assert "details" not in "".join(cell.source for cell in notebook.cells)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# L\n\n```python\nx = 1\n\nassert x == 2, 'not two'\n```\n", "docs/lessons/trial.md:6: AssertionError: not two"),
        ("# L\n\n```sh\necho so far\nfalse\n```\n", "docs/lessons/trial.md:3: CalledProcessError"),
        ("# L\n\nThe number {{ missing }}.\n", "docs/lessons/trial.md:3: NameError"),
        ("# L\n\n```python fails\n1\n```\n", "docs/lessons/trial.md:3: this block is marked `fails`, but succeeded"),
    ],
)
def test_a_failing_lesson_is_reported_with_its_line(build, program, text, message):
    """Catches a traceback in a page, and a failed build that does not report the line."""
    from book import BookError

    with pytest.raises(BookError, match=message.replace(".", r"\.")):
        build(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# L\n\n```python\n1\n", "trial.md:3: this block has no end"),
        ("# L\n\n```python hidden\n1\n```\n", "trial.md:3: unknown word `hidden`; allowed: fails, hide"),
    ],
)
def test_a_syntax_error_in_a_lesson_is_reported_with_its_line(text, message):
    """Catches an unclosed block that contains the rest of a page, and a word that has no effect."""
    from book import BookError, lesson

    with pytest.raises(BookError) as why:
        lesson.parts("trial.md", text)
    assert message in str(why.value)


def test_equations_are_typeset_and_other_dollar_signs_are_unchanged():
    """Catches stars and underscores of an equation read as Markdown, and a price or a shell variable typeset as an equation."""
    from book import BookError, equations

    assert equations.typeset("p", 1, "costs $5 or $6, `$HOME and $x$`") == "costs $5 or $6, `$HOME and $x$`"
    fence = "```sh\necho $a $b\n```"
    assert equations.typeset("p", 1, fence) == fence
    text = equations.typeset("p", 1, r"$a_i * \text{b_c_d} * c$ and $f'$")
    assert text.count("<math") == 2 and "*" not in text and "_" not in text and "b&#95;c" in text
    assert "\n\n<math" in equations.typeset("p", 1, "so\n$$x = 1$$\nthen")
    for wrong, message in (
        (r"$\nonsense x$", r"\nonsense"),
        (r"$$\begin{gathered} a & b \end{gathered}$$", "&"),
        (r"$\frac{1}$", "`mfrac` is missing"),
        (r"$x^$", "Error"),
    ):
        with pytest.raises(BookError) as why:
            equations.typeset("p.md", 7, f"text\n{wrong}")
        assert message in str(why.value) and "p.md:8" in str(why.value)


def test_dead_links_and_external_resources_are_reported(tmp_path):
    """Catches a dead link, a dead anchor, and a page that needs the network."""
    from book import BookError, links

    (tmp_path / "b.html").write_text('<h1 id="here">b</h1>')
    image, same_page = '<img src="data:image/png;base64,AA==">', '<a href="#top" id="top">'
    page = f'<a href="b.html#here">b</a> <a href="https://example.org">web</a> {image} {same_page}'
    (tmp_path / "a.html").write_text(page)
    links.check(tmp_path)
    wrong = '<a href="c.html"> <a href="b.html#there"> <script src="https://example.org/x.js"></script> <a href="#none"> <pre class="playground">'
    (tmp_path / "a.html").write_text(wrong)
    with pytest.raises(BookError) as why:
        links.check(tmp_path)
    message = str(why.value)
    for fault in ("dead link c.html", "dead anchor b.html#there", "loads https://example.org/x.js", "dead anchor #none", "loads https://play.rust-lang.org"):
        assert fault in message


def test_links_of_the_repository_become_links_of_the_book():
    """Catches a link that works in the repository but not in the book, and a changed link inside code."""
    from pathlib import Path

    from book import sources

    text = "[a](../cases/custom/README.md#x) [b](../src/verify/check.rs) `[c](../d.md)` [e](https://example.org/../f)"
    found = sources.resolved(Path("docs/user-guide.md"), text)
    assert found == "[a](cases/custom.md#x) [b](src/verify/check.rs.md) `[c](../d.md)` [e](https://example.org/../f)"
    lesson = sources.resolved(Path("docs/lessons/x.md"), "[a](../theory.md) [b](../../kernels/lines/neato_shared.cu)")
    assert lesson == "[a](../theory.md) [b](../kernels/lines/neato_shared.cu.md)"
    assert (
        sources.resolved(Path("cases/custom/README.md"), "[a](../../docs/theory.md) [p](p.png)")
        == "[a](../theory.md) [p](custom/p.png)"
    )


def test_a_cell_can_read_the_files_of_the_repository_that_it_names(build, program):
    """Catches cells without access to the files of the repository, so that a lesson could only repeat their numbers by hand."""
    text, _ = build('# L\n\n```python\nprint(open("docs/SUMMARY.md").readline())\n```\n')
    assert "# " in text


def test_the_alternative_text_of_a_figure_is_its_title_and_axes(build, program):
    """Catches a figure described to screen readers only by its number."""
    plot = 'import matplotlib.pyplot as plt\n_, axes = plt.subplots()\naxes.set(title="decay", xlabel="t", ylabel="K");'
    text, _ = build(f"# L\n\n```python\n{plot}\n```\n")
    assert 'alt="decay: K against t"' in text


def test_a_book_without_explorables_contains_the_page_that_others_link_to(tmp_path, monkeypatch):
    """Catches a dead link in the book of a fresh clone."""
    from book import sources

    monkeypatch.setattr(sources, "EXPLORABLES_DIST", tmp_path / "none")
    sources.lay_out(tmp_path / "stage")
    assert "`explorables/build`" in (tmp_path / "stage/explorables.md").read_text()
    assert "(explorables.md)" in (tmp_path / "stage/SUMMARY.md").read_text()


def test_links_of_a_notebook_point_to_pages_of_the_book():
    """Catches a notebook that links to Markdown files, which the book does not contain."""
    from pathlib import Path

    from book import sources

    found = sources.resolved(Path("docs/lessons/x.md"), "[a](begin.md) [b](../gpu.md#x) [c](../../src/verify/check.rs)", ".html")
    assert found == "[a](begin.html) [b](../gpu.html#x) [c](../src/verify/check.rs.html)"
