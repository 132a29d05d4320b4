"""What makes the book: each test's sentence is the mistake that it alone catches."""

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
def made(tmp_path):
    """Carries a lesson out: its page, and its notebook."""
    from book import cells, lesson, page

    def make(text):
        parts = lesson.parts("docs/lessons/trial.md", text)
        results = cells.run("trial", parts, tmp_path / "cells")
        return page.page("trial", parts, results, tmp_path), page.notebook(parts, results)

    return make


def test_another_program_makes_another_page_and_the_same_one_is_not_run_again(made, program, tmp_path):
    """Numbers of an older program, kept from a build before; or a page that shows what somebody typed."""
    count = tmp_path / "count"
    program(f'echo x >>{count}; echo "a = 14/9"; echo 1.5556 >b.txt')
    before, notebook = made(LESSON)
    assert "a = 14/9" in before and "Text with 5 and" in before and ">1.56<" in before and "hidden" in before
    assert 'print("hidden")' not in before
    assert made(LESSON)[0] == before and count.read_text() == "x\n"
    program(f'echo x >>{count}; echo "a = 15/9"; echo 1.6667 >b.txt')
    after, _ = made(LESSON)
    assert after == before.replace("14/9", "15/9").replace("1.56", "1.67")
    # The notebook is without outputs, has the numbers in its text, and its shell is a shell.
    nbformat.validate(notebook)
    assert "Text with 5 and $a = 1.56$" in notebook.cells[1].source + notebook.cells[2].source
    assert any(cell.source == "%%bash -e\nkolmo coefficient" for cell in notebook.cells)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    assert "details" not in "".join(cell.source for cell in notebook.cells)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# L\n\n```python\nx = 1\n\nassert x == 2, 'not two'\n```\n", "docs/lessons/trial.md:6: AssertionError: not two"),
        ("# L\n\n```sh\necho so far\nfalse\n```\n", "docs/lessons/trial.md:3: CalledProcessError"),
        ("# L\n\nThe number {{ missing }}.\n", "docs/lessons/trial.md:3: NameError"),
        ("# L\n\n```python fails\n1\n```\n", "docs/lessons/trial.md:3: this block is to fail"),
    ],
)
def test_a_lesson_that_fails_names_its_line(made, program, text, told):
    """A book with a traceback in a page, or none at all and no word where it went wrong."""
    from book import BookError

    with pytest.raises(BookError, match=told.replace(".", r"\.")):
        made(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# L\n\n```python\n1\n", "trial.md:3: this block has no end"),
        ("# L\n\n```python hidden\n1\n```\n", "trial.md:3: `hidden` behind the language; known: fails, hide"),
    ],
)
def test_a_lesson_that_cannot_be_read_names_its_line(text, told):
    """The rest of a page swallowed by a block; a word that does nothing."""
    from book import BookError, lesson

    with pytest.raises(BookError) as why:
        lesson.parts("trial.md", text)
    assert told in str(why.value)


def test_equations_are_set_and_what_is_none_stays():
    """Stars and underscores of an equation that Markdown eats; a price or a shell's variable taken for an equation."""
    from book import BookError, equations

    assert equations.typeset("p", 1, "costs $5 or $6, `$HOME and $x$`") == "costs $5 or $6, `$HOME and $x$`"
    fence = "```sh\necho $a $b\n```"
    assert equations.typeset("p", 1, fence) == fence
    text = equations.typeset("p", 1, r"$a_i * \text{b_c_d} * c$ and $f'$")
    assert text.count("<math") == 2 and "*" not in text and "_" not in text and "b&#95;c" in text
    assert "\n\n<math" in equations.typeset("p", 1, "so\n$$x = 1$$\nthen")
    for wrong, told in (
        (r"$\nonsense x$", r"\nonsense"),
        (r"$$\begin{gathered} a & b \end{gathered}$$", "&"),
        (r"$\frac{1}$", "`mfrac` is missing"),
        (r"$x^$", "Error"),
    ):
        with pytest.raises(BookError) as why:
            equations.typeset("p.md", 7, f"text\n{wrong}")
        assert told in str(why.value) and "p.md:8" in str(why.value)


def test_links_that_lead_nowhere_are_found(tmp_path):
    """A dead link, a dead anchor, a page that needs the network."""
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
    told = str(why.value)
    for fault in ("dead link c.html", "dead anchor b.html#there", "loads https://example.org/x.js", "dead anchor #none", "loads https://play.rust-lang.org"):
        assert fault in told


def test_links_of_the_repository_become_links_of_the_book():
    """A link that works beside the file and not in the book; one inside code that is changed."""
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


def test_a_cell_finds_the_files_of_the_repository_that_it_names(made, program):
    """A number typed into a lesson since its cells cannot read where it stands."""
    text, _ = made('# L\n\n```python\nprint(open("docs/SUMMARY.md").readline())\n```\n')
    assert "# " in text


def test_a_figure_is_described_by_its_titles_and_axes(made, program):
    """A picture of which a reader without eyes is told its number."""
    plot = 'import matplotlib.pyplot as plt\n_, axes = plt.subplots()\naxes.set(title="decay", xlabel="t", ylabel="K");'
    text, _ = made(f"# L\n\n```python\n{plot}\n```\n")
    assert 'alt="decay: K against t"' in text


def test_a_book_without_explorables_has_the_page_that_others_lead_to(tmp_path, monkeypatch):
    """A dead link in the book of a clean clone."""
    from book import sources

    monkeypatch.setattr(sources, "EXPLORABLES_MADE", tmp_path / "none")
    sources.lay_out(tmp_path / "stage")
    assert "`explorables/build`" in (tmp_path / "stage/explorables.md").read_text()
    assert "(explorables.md)" in (tmp_path / "stage/SUMMARY.md").read_text()


def test_links_of_a_notebook_lead_to_pages_of_the_book():
    """A notebook that links to Markdown, of which the book has none."""
    from pathlib import Path

    from book import sources

    found = sources.resolved(Path("docs/lessons/x.md"), "[a](begin.md) [b](../gpu.md#x) [c](../../src/verify/check.rs)", ".html")
    assert found == "[a](begin.html) [b](../gpu.html#x) [c](../src/verify/check.rs.html)"
