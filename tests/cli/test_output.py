"""Progress as the command line shows it: bars on a terminal, lines in a log."""

import io

from rich.console import Console

from cli.output import progress_on


def test_a_piece_of_work_within_another_has_a_bar_of_its_own() -> None:
    written = io.StringIO()
    progress = progress_on(Console(file=written, width=80, force_terminal=True), quiet=False)
    with progress("fine-tuning", 3) as advance:
        with progress("articles", 6) as within:
            within(6)
        advance(3)
    assert "6/6" in written.getvalue()
    assert "3/3" in written.getvalue()


def test_a_log_has_a_line_for_each_piece_of_work_as_it_ends() -> None:
    written = io.StringIO()
    progress = progress_on(Console(file=written, width=80), quiet=False)
    with progress("fine-tuning", 3), progress("articles", 6):
        pass
    lines = written.getvalue().splitlines()
    assert [line.partition(" in ")[0] for line in lines] == ["articles: 6", "fine-tuning: 3"]
