"""The table "What it costs" of README.md. It quotes the published tables of contestants whose subscriptions block."""

from ledger import Checked
from figures import median, span
from tables import markdown

TITLE = "What it costs"
# The folders of results that the table quotes. Each has one case.
QUOTED = ("2026-11-29-epyc/4mb", "2026-11-29-epyc/256b")
# The contestant of each row. The key is the middleware's name in the row, before its version.
ROWS = {
    "Gantry": "gantry:best", "iceoryx2": "iceoryx2:best", "iceoryx by its listener": "iceoryx-listener:best",
    "iceoryx": "iceoryx:best",
    "Cyclone DDS": "cyclonedds-listener:best", "Fast DDS": "fastdds-listener:best", "Zenoh": "zenoh-callback:best",
    "rclcpp": "rclcpp:best",
}


def micros(ns):
    """Writes a time in µs, below ten with one digit after the point."""
    us = ns / 1e3
    return f"{us:.1f}" if us < 9.95 else f"{us:,.0f}"


def mib(kib):
    return f"{kib / 1024:.0f}"


def lost(runs, has_sum):
    """The number of messages that all runs lost; in the first row, also the number that they sent."""
    return f"{sum(run.lost() for run in runs):,}" + (f" of {sum(run.sum('sent') for run in runs):,}" if has_sum else "")


class FrontPage:
    """README.md, and the cases that it quotes as far as they are recomputed."""

    def __init__(self, file):
        self.file = file
        self.cases = {}

    def quote(self, ledger, folder, cases):
        """Adds the cases of a folder. Once the cases of all quoted folders are known, it checks the table."""
        if "/".join(folder.parts[-2:]) in QUOTED:
            self.cases.update(cases)
            if len(self.cases) == len(QUOTED):
                check(ledger, self.file, self.cases)

    def end(self):
        """Fails if a quoted folder is missing, because the table was not checked then."""
        if len(self.cases) != len(QUOTED):
            raise ValueError(f"results/ lacks one of {', '.join(QUOTED)}, which the table in {self.file} quotes")


def check(ledger, file, cases):
    """Compares the table with the quoted cases."""
    table = next((table for table in markdown(file) if table.title == TITLE), None)
    if table is None:
        raise ValueError(f"{file} has no table under `{TITLE}`: tools/recompute/readme.py names it")
    check = Checked(ledger, table)
    large, small = cases["4MB"], cases["256B"]
    for row, (name, *_) in enumerate(table.rows):
        known = next((known for known in ROWS if name.startswith(known)), None)
        if known is None:
            check.fail(row, "tools/recompute/readme.py does not name the contestant of this row")
            continue
        at, of_small = large[ROWS[known]], small[ROWS[known]]
        version = (name.removeprefix(known).split() or [""])[0]
        if not at.runs[0].spec["middleware_version"].startswith(version):
            check.fail(row, f"the version is {at.runs[0].spec['middleware_version']}")
        check.cells(row, [
            span(at.latency, micros), span(at.p99, micros), lost(at.runs, row == 0), span(at.cpu, micros),
            (median(run.pss_kib() for run in at.runs), mib),
            span(of_small.latency, micros), span(of_small.p99, micros), lost(of_small.runs, row == 0),
        ])
