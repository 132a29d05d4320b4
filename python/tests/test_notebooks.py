"""Every lesson is carried out, as a learner would do it."""

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

LESSONS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_to_its_end_and_draws(path, tmp_path):
    """A cell that fails, an assertion of the lesson that does not hold, or a lesson without a figure."""
    lesson = nbformat.read(path, as_version=4)
    nbformat.validate(lesson)
    NotebookClient(lesson, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in lesson.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 3


def test_lessons_are_there_without_outputs_that_a_change_of_the_program_would_make_wrong():
    """Numbers and pictures of another version beside the text."""
    assert len(LESSONS) >= 2
    for path in LESSONS:
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert cells and not any(cell.outputs or cell.execution_count for cell in cells), path.name
