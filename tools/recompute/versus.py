"""The tables of contestants side by side: a table for each case, and the ratios. A base's default is compared with the
defaults of others and its best with the bests of others; a middleware with one form is compared with both."""

import re

from ledger import Checked
from logs import Run, folder_name
from figures import Ratio, count, fixed, median, mib, time
from tables import markdown

BASE = "gantry"


class Contestant:
    """The rounds of a contestant in one case."""

    def __init__(self, folder, case, name):
        logs = (folder / case).glob(f"{folder_name(name)}-round*.json")
        self.name, self.middleware = name, name.split(":")[0]
        self.runs = [Run(log) for log in sorted(logs, key=lambda log: int(re.search(r"round(\d+)", log.name)[1]))]
        self.latency = [run.percentile(50) for run in self.runs]
        self.p99 = [run.percentile(99) for run in self.runs]
        self.cpu = [run.cpu_per_message() for run in self.runs]
        self.rss = [run.peak_kib() for run in self.runs]

    def is_best(self):
        return self.name.endswith(":best")

    def figures(self):
        """The cells from `path` to `lost`: medians of the rounds, and the sum of losses."""
        runs = self.runs
        paths = {run.path() for run in runs}
        return [
            paths.pop() if len(paths) == 1 else "partly loaned", runs[0].wait(),
            (median(self.latency), time), (median(self.p99), time),
            (median(self.cpu), time), (median(self.rss), mib),
            (median(run.hz() for run in runs), count), (median(run.mb_per_s() for run in runs), fixed(1)),
            str(sum(run.lost() for run in runs)),
        ]


def cases(folder):
    """The contestants of each case of the unpacked logs, by their names."""
    found = {}
    for log in sorted(folder.glob("*/*-round1.json")):
        name = log.name.removesuffix("-round1.json").replace("_", ":", 1)
        found.setdefault(log.parent.name, {})[name] = Contestant(folder, log.parent.name, name)
    return found


def bases_of(name, of_case):
    """The forms of the base that a contestant is compared with."""
    bases = [one for one in of_case.values() if one.middleware == BASE]
    own = of_case[name]
    if own.middleware == BASE:
        return []
    if sum(one.middleware == own.middleware for one in of_case.values()) == 1:
        return bases
    return [base for base in bases if base.is_best() == own.is_best()]


def check_case(ledger, table, case, of_case):
    """A case: a row for each contestant."""
    check = Checked(ledger, table)
    # Some middlewares lack the QoS that was asked for; the base has it.
    first = min(of_case.values(), key=lambda one: one.middleware != BASE).runs
    spec, qos = first[0].spec, first[0].qos()
    title = f"{case}: {spec['message']}, {spec['message_bytes']} bytes, {spec['rate_hz']} Hz, {qos}; medians of {len(first)} rounds"
    if table.title != title:
        check.fail(None, f"the heading is `{table.title}`, and the logs say `{title}`")
    one_base = None if table.header[-2].startswith("base/") else table.header[-2].split("/")[0]
    for row, cells in enumerate(table.rows):
        if cells[0] not in of_case:
            check.fail(row, "there is no log of this contestant")
            continue
        own = of_case[cells[0]]
        check.cells(row, own.figures())
        for column, figure in ((-2, "latency"), (-1, "cpu")):
            parts = []
            for base in bases_of(own.name, of_case):
                parts += ["; "] if parts else []
                parts += [] if one_base else [f"{base.name}: "]
                parts += Ratio(getattr(base, figure), getattr(own, figure)).parts()
            check.cell(row, len(cells) + column, *parts)
    check.lacks(of_case)


def check_ratios(ledger, table, found):
    """The table of ratios. Memory has the ratio of the first case of the document."""
    check = Checked(ledger, table, keys=3)
    first = next(iter(found.values()))
    wanted = {(base.name, name) for name in first for base in bases_of(name, first)}
    for row, (pair, case, figure, _, _) in enumerate(table.rows):
        base, _, other = pair.partition(" / ")
        wanted.discard((base, other))
        of_case = found.get(case, {}) if case else first
        if base not in of_case or other not in of_case or figure not in ("latency", "cpu", "rss"):
            check.fail(row, "there are no logs of this ratio")
            continue
        ratio = Ratio(getattr(of_case[base], figure), getattr(of_case[other], figure))
        check.cell(row, 3, *ratio.parts())
        check.cell(row, 4, ratio.finding())
    for pair in wanted:
        check.fail(None, f"the table lacks the ratio {' / '.join(pair)}")


def check(ledger, file, logs):
    """All tables of a `versus.md`; returns the cases, which the README quotes."""
    tables, found = markdown(file), cases(logs)
    names = [table.title.split(":")[0] for table in tables]
    for case in sorted(set(found) - set(names)):
        Checked(ledger, tables[0]).fail(None, f"the document lacks a table of {case}, of which there are logs")
    # The order of the document: the ratios of memory belong to its first case.
    found = {case: found[case] for case in names if case in found}
    for table in tables:
        case = table.title.split(":")[0]
        if case in found:
            check_case(ledger, table, case, found[case])
        elif table.title == "Ratios":
            check_ratios(ledger, table, found)
        else:
            Checked(ledger, table).fail(None, "there are no logs of this case")
    return found
