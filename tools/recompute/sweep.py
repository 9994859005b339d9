"""The tables of experiments before 2026-11-24, with one run for each combination: zero copy, sizes, types."""

import re

import notes
from ledger import Checked
from logs import Run, folder_name, shortfall
from figures import Ratio, mib, time
from tables import markdown, sentences

METHODS = {'Non-"zero-copy"': "copy", '"zero-copy"': "zero-copy"}


class Runs:
    """The runs of an experiment: each log is read once."""

    def __init__(self, folder):
        self.folder, self.runs, self.used = folder, {}, set()

    def get(self, contestant, name):
        """Returns the run; if it has no figures, its shortfall; if there is no log, None."""
        log = self.folder / folder_name(contestant) / f"{name}-round1.json"
        if log not in self.runs:
            self.runs[log] = Run(log) if log.exists() else shortfall(log)
            self.used |= {log, log.with_name(log.stem + ".failed.json")}
        return self.runs[log]

    def of(self, contestant):
        """The runs of a contestant that `get` has returned and that have figures."""
        folder = self.folder / folder_name(contestant)
        return [run for log, run in self.runs.items() if log.parent == folder and isinstance(run, Run)]

    def left(self):
        """The logs that no table has used."""
        return sorted(log for log in self.folder.glob("*/*.json") if log not in self.used)


class Footnotes:
    """The footnotes of a document, whose lines are `- [1] sentence`."""

    def __init__(self, file):
        self.of = dict(re.findall(r"^- \[(\d+)\] (.*)$", file.read_text(), re.M))

    def cell(self, of_run):
        """The cell of a run without figures: the kind of its shortfall, and the number of the footnote with the
        sentence."""
        kind, sentence = of_run
        number = next((number for number, text in self.of.items() if text == sentence), "without a footnote")
        return f"{kind} [{number}]"


def figures_or_shortfall(run, footnotes, figures):
    """The cells of a run. For a run without figures, the first cell has the reason, and the other cells are empty."""
    width = len(figures)
    if run is None:
        return ["(there is no log)"] + [""] * (width - 1)
    if isinstance(run, tuple):
        return [footnotes.cell(run)] + [""] * (width - 1)
    return [figure(run) for figure in figures]


P50 = lambda run: (run.percentile(50), time)
CPU = lambda run: (run.cpu_per_message(), time)


def zero_copy(ledger, file, logs):
    """Checks the tables with a row for each contestant and method (with or without zero copy), and the sentences with
    the ratios of the methods."""
    runs, footnotes = Runs(logs / "zero-copy"), Footnotes(file)
    figures = [
        P50, lambda run: (run.percentile(99), time), CPU, lambda run: (run.peak_kib(), mib),
        lambda run: str(run.sum("received")), lambda run: str(run.lost()), lambda run: run.path(),
    ]
    for table in markdown(file):
        check = Checked(ledger, table, keys=2)
        for row, (contestant, method, *_) in enumerate(table.rows):
            run = runs.get(contestant, METHODS.get(method, method))
            check.cells(row, figures_or_shortfall(run, footnotes, figures))
        for log in runs.left():
            check.fail(None, f"the table lacks {log.parent.name} {log.stem}")
    pattern = r"- (\S+): zero copy / copy: p50 (\S+), CPU/message (\S+)"
    ratios = sentences(file, pattern, "zero copy / copy, under the table", ["contestant", "p50", "CPU/message"])
    check = Checked(ledger, ratios, keys=2)
    for row, (_, contestant, *_) in enumerate(ratios.rows):
        loaned, copied = (runs.get(contestant, name) for name in ("zero-copy", "copy"))
        for column, (_, of) in enumerate((("p50", P50), ("CPU", CPU)), 2):
            check.cell(row, column, *Ratio([of(loaned)[0]], [of(copied)[0]]).parts())
    check_notes(ledger, file, runs)


def check_notes(ledger, file, runs):
    """Checks the sentences about the runs of each contestant."""
    runs_of = lambda _, contestant: runs.of(contestant)
    notes.warnings(ledger, file, runs_of)
    notes.copies(ledger, file, runs_of)


def types(ledger, file, logs):
    """Checks the tables with a row for each message, and the latency and CPU time of each contestant."""
    runs, footnotes = Runs(logs / "types"), Footnotes(file)
    for table in markdown(file):
        check = Checked(ledger, table)
        contestants = [name.removesuffix(" p50") for name in table.header if name.endswith(" p50")]
        for row, (message, *_) in enumerate(table.rows):
            of_row = [runs.get(contestant, message) for contestant in contestants]
            size = next((run.spec["message_bytes"] for run in of_row if isinstance(run, Run)), None)
            check.cell(row, 1, str(size))
            for index, run in enumerate(of_row):
                check.cells(row, figures_or_shortfall(run, footnotes, [P50, CPU]), 2 + 2 * index)
        for log in runs.left():
            check.fail(None, f"the table lacks {log.parent.name} {log.stem}")
    check_notes(ledger, file, runs)


def sizes(ledger, file, logs):
    """Checks the tables of message sizes: a table for each contestant, a row for each message, and for each path of
    messages the latency and the number of received messages. Rows of dashes have the sizes of the CPU caches."""
    runs, footnotes, caches = Runs(logs / "sizes"), Footnotes(file), {}
    for table in markdown(file):
        check = Checked(ledger, table)
        contestant = table.title.split(": ")[0]
        ways = {column: name.replace(", ", "-") for column, name in enumerate(table.header)
                if name.startswith(("inter-process", "intra-process"))}
        bytes_at = table.column("bytes")
        for row, (message, *_) in enumerate(table.rows):
            of_row = {column: runs.get(contestant, f"{message}-{way}") for column, way in ways.items()}
            measured = [run for run in of_row.values() if isinstance(run, Run)]
            if measured:
                caches = caches_of(measured[0])
                due = {measured[0].spec["rate_hz"] * measured[0].spec["max_runtime_s"]}
                headings = {name.removeprefix("received of ") for name in table.header if name.startswith("received of ")}
                if headings != {str(number) for number in due}:
                    check.fail(row, f"the header has `received of {headings}`, and {due} were due")
            elif name := re.fullmatch(r"--- (\S+) ---", message):
                check.cells(row, [str(caches.get(name[1], ""))] + [""] * (len(table.header) - 2))
                continue
            check.cell(row, bytes_at, str(measured[0].spec["message_bytes"]) if measured else "(there is no log)")
            received = lambda run: str(run.sum("received"))
            for column, run in of_row.items():
                check.cells(row, figures_or_shortfall(run, footnotes, [P50, received]), column)
    tables = {folder_name(table.title.split(": ")[0]) for table in markdown(file)}
    for log in runs.left():
        if log.parent.name not in tables or "failed" not in log.name:
            check.fail(None, f"no table has {log.parent.name} {log.stem}")
    check_notes(ledger, file, runs)

    def points(heading, way):
        folder, end = runs.folder / folder_name(heading.split(": ")[0]), f"-{way.replace(', ', '-')}-round1.json"
        measured = [run for log, run in runs.runs.items()
                    if log.parent == folder and log.name.endswith(end) and isinstance(run, Run)]
        return [(run.spec["message_bytes"], run.percentile(50)) for run in measured]

    notes.knees(ledger, file, points, caches)


def caches_of(run):
    """The sizes in bytes of the data caches. If a level has several caches, the largest one counts."""
    found = {}
    for cache in run.environment["cpu"]["caches"]:
        if cache["kind"] != "Instruction":
            name = "L1d" if cache["level"] == 1 else f"L{cache['level']}"
            found[name] = max(found.get(name, 0), cache["size_kib"] * 1024)
    return found
