"""The tables of sweeps. A row has a contestant, the options that differ between runs, and figures: medians of rounds,
and sums of losses. A row is matched with its logs by the options' values in the logs, not by file names."""

import json
import re

from ledger import Checked
from logs import Run, folder_name
from figures import count, median, mib, time

FIGURES = {
    "p50": (lambda run: run.percentile(50), time),
    "p99": (lambda run: run.percentile(99), time),
    "mean latency": (lambda run: run.mean(), time),
    "CPU/message": (lambda run: run.cpu_per_message(), time),
    "memory": (lambda run: run.peak_kib(), mib),
    "received/s": (lambda run: run.hz(), count),
    "utime+stime": (lambda run: run.used("user_ns", "system_ns"), time),
    "minflt": (lambda run: run.used("minor_faults"), count),
    "majflt": (lambda run: run.used("major_faults"), count),
    "nvcsw": (lambda run: run.used("voluntary_switches"), count),
    "nivcsw": (lambda run: run.used("involuntary_switches"), count),
}
SUMS = {"lost": lambda run: run.lost()}
# The options that have another name in the log.
FIELDS = {"msg": "message", "rate": "rate_hz", "num-pub-threads": "publishers", "num-sub-threads": "subscriptions",
          "max-runtime": "max_runtime_s", "warmup": "warmup_s", "ignore": "ignore_s"}
METHODS = {'Non-"zero-copy"': False, '"zero-copy"': True}


def is_one(table):
    """True if `table` is a table of a sweep."""
    return table.header[0] == "contestant" and any(name in FIGURES for name in table.header) and "path" not in table.header


class Kind:
    """A combination of contestant and options: its rounds, or its shortfall if it has no figures."""

    def __init__(self, logs):
        self.folder, self.name = logs[0].parent.name, re.sub(r"-round\d+.*", "", logs[0].name)
        self.runs = [Run(log) for log in logs if not log.name.endswith(".failed.json")]
        failed = [json.loads(log.read_text()) for log in logs if log.name.endswith(".failed.json")]
        self.shortfall = (failed[-1]["kind"], failed[-1]["sentence"]) if failed else None

    def has(self, option, value):
        """True if the runs have this value of an option."""
        if not self.runs:
            return f"_{option}={folder_name(value)}_" in f"_{self.name}_"
        spec = self.runs[0].spec
        if value in METHODS:
            return spec["zero_copy"] == METHODS[value]
        found = spec["settings"].get(option, spec.get(FIELDS.get(option, option.replace("-", "_"))))
        return str(found).lower() == value.lower()


def kinds(folder):
    found = {}
    for log in sorted(folder.rglob("*-round*.json")):
        found.setdefault((log.parent, re.sub(r"-round\d+.*", "", log.name)), []).append(log)
    return [Kind(logs) for logs in found.values()]


def check(ledger, table, logs, footnotes):
    """Checks a table. `footnotes` has the sentences of the document by their numbers."""
    check, known = Checked(ledger, table), kinds(logs)
    options = [at for at, name in enumerate(table.header) if at and name not in {*FIGURES, *SUMS, "bytes"}]
    for row, cells in enumerate(table.rows):
        alike = [kind for kind in known if kind.folder == folder_name(cells[0])
                 and all(cells[at] == "-" or kind.has(table.header[at], cells[at]) for at in options)]
        if len(alike) != 1:
            check.fail(row, f"{len(alike)} kinds of runs in the logs have its options")
        for at in options:
            check.cell(row, at, cells[at] if len(alike) == 1 else "(no such run)")
        for kind in alike[:1]:
            known.remove(kind)
            check_row(check, row, kind, footnotes)
    for kind in known:
        check.fail(None, f"it lacks {kind.folder} {kind.name}, which was measured")


def check_row(check, row, kind, footnotes):
    """Checks the cells with figures in a row."""
    header, first = check.table.header, True
    for at, name in enumerate(header):
        if name == "bytes":
            check.cell(row, at, str(kind.runs[0].spec["message_bytes"]) if kind.runs else "-")
        elif name not in FIGURES and name not in SUMS:
            continue
        elif not kind.runs:
            number = next((number for number, text in footnotes.items() if text == kind.shortfall[1]), "without a footnote")
            check.cell(row, at, f"{kind.shortfall[0]} [{number}]" if first else "")
            first = False
        elif name in SUMS:
            check.cell(row, at, str(sum(SUMS[name](run) for run in kind.runs)))
        else:
            value, show = FIGURES[name]
            check.cell(row, at, (median(value(run) for run in kind.runs), show))
