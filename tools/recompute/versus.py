"""The tables that compare contestants: a table for each case, and the ratios to the base (Gantry). The base has several
forms (settings). A contestant is compared with the form that has the same settings; otherwise defaults with defaults,
and `best` with `best`. A middleware with one form is compared with all forms of the base."""

import re

import notes
from ledger import Checked
from logs import Run, folder_name
from figures import Ratio, count, fixed, median, mib, time
from tables import markdown

BASE = "gantry"


class Contestant:
    """The runs of a contestant in one case, a run for each round."""

    def __init__(self, folder, case, name):
        logs = (folder / case).glob(f"{folder_name(name)}-round*.json")
        self.name, self.middleware = name, name.split(":")[0]
        self.runs = [Run(log) for log in sorted(logs, key=lambda log: int(re.search(r"round(\d+)", log.name)[1]))]
        self.latency = [run.percentile(50) for run in self.runs]
        self.p99 = [run.percentile(99) for run in self.runs]
        self.cpu = [run.cpu_per_message() for run in self.runs]
        self.rss = [run.peak_kib() for run in self.runs]

    def form(self):
        return self.name.removeprefix(self.middleware)

    def is_best(self):
        return self.form().startswith(":best")

    def figures(self, has_unit):
        """The cells from `path` to `lost`: medians of the rounds, and the sum of losses. In newer tables, each cell of
        the column with megabytes per second contains its unit."""
        runs, rate = self.runs, bytes_per_second if has_unit else fixed(1)
        paths = {run.path() for run in runs}
        return [
            paths.pop() if len(paths) == 1 else "partly loaned", runs[0].wait(),
            (median(self.latency), time), (median(self.p99), time),
            (median(self.cpu), time), (median(self.rss), mib),
            (median(run.hz() for run in runs), count), (median(run.mb_per_s() for run in runs), rate),
            str(sum(run.lost() for run in runs)),
        ]


def bytes_per_second(value):
    return f"{value:.2f} MB/s" if value < 10 else f"{value:.0f} MB/s"


def cases(folder, names):
    """The contestants of each case in the unpacked logs, by name, in the order of `names`."""
    found = {}
    known = {folder_name(name): name for name in names}
    place = lambda log: (list(known).index(log) if log in known else len(known), log)
    for log in sorted(folder.glob("*/*-round1.json"), key=lambda log: place(log.name.removesuffix("-round1.json"))):
        stem = log.name.removesuffix("-round1.json")
        name = known.get(stem, stem.replace("_", ":", 1))
        found.setdefault(log.parent.name, {})[name] = Contestant(folder, log.parent.name, name)
    return found


def bases_of(name, of_case):
    """The forms of the base with which a contestant is compared."""
    own, middlewares = of_case[name], [one.middleware for one in of_case.values()]
    middleware = BASE if BASE in middlewares else middlewares[0]
    bases = [one for one in of_case.values() if one.middleware == middleware]
    if set(middlewares) == {middleware}:
        return [] if own is bases[0] else bases[:1]
    if own.middleware == middleware:
        return []
    if middlewares.count(own.middleware) == 1:
        return bases
    alike = [base for base in bases if base.form() == own.form()]
    return alike or [base for base in bases if base.is_best() == own.is_best()] or bases


def title_of(case, runs):
    """The heading of a case, made from the runs of the base."""
    spec, qos = runs[0].spec, runs[0].qos()
    rounds = "one round" if len(runs) == 1 else f"medians of {len(runs)} rounds"
    return f"{case}: {spec['message']}, {spec['message_bytes']} bytes, {spec['rate_hz']} Hz, {qos}; {rounds}"


def check_case(ledger, table, case, of_case):
    """Checks the table of a case, which has a row for each contestant."""
    check = Checked(ledger, table)
    # The heading has the requested QoS. Some middlewares do not support it, so the runs of the base are used.
    title = title_of(case, min(of_case.values(), key=lambda one: one.middleware != BASE).runs)
    if table.title != title:
        check.fail(None, f"the heading is `{table.title}`, and the logs say `{title}`")
    one_base = None if table.header[-2].startswith("base/") else table.header[-2].split("/")[0]
    for row, cells in enumerate(table.rows):
        if cells[0] not in of_case:
            check.fail(row, "there is no log of this contestant")
            continue
        own = of_case[cells[0]]
        check.cells(row, own.figures("MB/s" in cells[table.column("MB/s")]))
        for column, figure in ((-2, "latency"), (-1, "cpu")):
            parts = []
            for base in bases_of(own.name, of_case):
                parts += ["; "] if parts else []
                parts += [] if one_base else [f"{base.name}: "]
                parts += Ratio(getattr(base, figure), getattr(own, figure)).parts()
            check.cell(row, len(cells) + column, *parts)
    check.lacks(of_case)


def check_ratios(ledger, table, found):
    """Checks the table of ratios. The ratio of memory is computed only for the first case of the document."""
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
    """Checks all tables of a `versus.md`. Returns the cases, which the README quotes."""
    tables = markdown(file)
    found = cases(logs, [cells[0] for table in tables if table.title != "Ratios" for cells in table.rows])
    names = [table.title.split(":")[0] for table in tables]
    for case in sorted(set(found) - set(names)):
        Checked(ledger, tables[0]).fail(None, f"the document lacks a table of {case}, of which there are logs")
    # The cases get the order of the document, because the ratios of memory belong to its first case.
    found = {case: found[case] for case in names if case in found}
    for table in tables:
        case = table.title.split(":")[0]
        if case in found:
            check_case(ledger, table, case, found[case])
        elif table.title == "Ratios":
            check_ratios(ledger, table, found)
        else:
            Checked(ledger, table).fail(None, "there are no logs of this case")
    runs_of = lambda heading, contestant: found[heading.split(":")[0]][contestant].runs
    notes.warnings(ledger, file, runs_of)
    notes.copies(ledger, file, runs_of)
    return found
