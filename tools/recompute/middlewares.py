"""The tables of `compare middlewares` since 2026-11-28. Each case has a table of latency and losses and a table of
costs, both with intervals. Each form of the base (`gantry`, `gantry:best`) has a table of ratios. `versus` checks the
older tables."""

import notes
import versus
from ledger import Checked
from figures import Ratio, count, interval, median, mib, time
from tables import markdown

CPU_OF_SUMMARY = "CPU time after the last row, in the summary of each log"
COSTS, RATIOS = "CPU time, memory and throughput", "Ratios of "


def is_one(tables):
    """True if `compare middlewares` wrote these tables."""
    return any(table.title.endswith(COSTS) or table.title.startswith(RATIOS) for table in tables)


def name_of(cells):
    return cells[0].removesuffix(" (baseline)")


def with_interval(values, show):
    """The median and its interval. If both ends have the same unit, the unit is written once; if both ends are equal,
    there is no interval."""
    values = [value for value in values if value is not None]
    low, high, _ = interval(values)
    if show(low) == show(high):
        return [(median(values), show)]
    unit = lambda text: text.partition(" ")[2]
    short = (lambda value: show(value).split(" ")[0]) if unit(show(low)) == unit(show(high)) else show
    return [(median(values), show), " [", (low, short), ", ", (high, show), "]"]


def figures(one):
    """The cells after the name in the first table of a case."""
    paths = {run.path() for run in one.runs}
    return [
        paths.pop() if len(paths) == 1 else "partly loaned", one.runs[0].wait(),
        with_interval(one.latency, time), with_interval(one.p99, time), str(sum(run.lost() for run in one.runs)),
    ]


def costs(one):
    """The cells after the name in the second table of a case."""
    return [
        with_interval(one.cpu, time), with_interval(one.rss, mib),
        with_interval([run.pss_kib() for run in one.runs], mib),
        with_interval([run.hz() for run in one.runs], count),
        with_interval([run.mb_per_s() for run in one.runs], versus.bytes_per_second),
    ]


def check_case(ledger, table, case, of_case):
    check = Checked(ledger, table)
    if not table.title.endswith(COSTS):
        first = min(of_case.values(), key=lambda one: one.middleware != versus.BASE).runs
        wanted = versus.title_of(case, first)
        if table.title != wanted:
            check.fail(None, f"the heading is `{table.title}`, and the logs say `{wanted}`")
    rule = costs if table.title.endswith(COSTS) else figures
    for row, cells in enumerate(table.rows):
        if name_of(cells) in of_case:
            check.cells(row, rule(of_case[name_of(cells)]))
        else:
            check.fail(row, "there is no log of this contestant")
    if rule is costs and any(run.is_cpu_in_summary_only() for one in of_case.values() for run in one.runs):
        check.json_only(CPU_OF_SUMMARY, table.column("CPU/message"))
    check.lacks({name + " (baseline)" * (f"{name} (baseline)" in {cells[0] for cells in table.rows}) for name in of_case})


def check_ratios(ledger, table, found):
    """Checks the ratios for one form of the base: latency, p99 and CPU time of each case, and memory of the first case."""
    check, base = Checked(ledger, table), table.title.removeprefix(RATIOS)
    first = next(iter(found.values()))
    rows = {name_of(cells) for cells in table.rows}
    for name in first:
        if any(of.name == base for of in versus.bases_of(name, first)) and name not in rows:
            check.fail(None, f"it lacks {name}, which was measured")
    has_p99 = any(heading.endswith(" p99") for heading in table.header)  # tables before 2026-11-29 have none
    figures = ["latency", "p99", "cpu"] if has_p99 else ["latency", "cpu"]
    columns = [(of_case, figure) for of_case in found.values() for figure in figures] + [(first, "rss")]
    for row, cells in enumerate(table.rows):
        for column, (of_case, figure) in enumerate(columns, 1):
            ratio = Ratio(getattr(of_case[base], figure), getattr(of_case[name_of(cells)], figure))
            mark = " ○" if ratio.finding() == "no difference shown" else ""
            check.cell(row, column, *ratio.parts(), mark)
    for column, (of_case, figure) in enumerate(columns, 1):
        if figure == "cpu" and any(run.is_cpu_in_summary_only() for one in of_case.values() for run in one.runs):
            check.json_only(CPU_OF_SUMMARY, column)


def check(ledger, file, logs):
    """Checks all tables of a document. Returns the cases, which the README quotes."""
    tables = markdown(file)
    found = versus.cases(logs, [name_of(cells) for table in tables for cells in table.rows])
    names = [table.title.split(":")[0] for table in tables if not table.title.startswith(RATIOS)]
    for case in sorted(set(found) - set(names)):
        Checked(ledger, tables[0]).fail(None, f"the document lacks a table of {case}, of which there are logs")
    found = {case: found[case] for case in dict.fromkeys(names) if case in found}
    for table in tables:
        if table.title.startswith(RATIOS):
            check_ratios(ledger, table, found)
        else:
            check_case(ledger, table, table.title.split(":")[0], found[table.title.split(":")[0]])
    runs_of = lambda heading, contestant: found[heading.split(":")[0]][contestant.removesuffix(" (baseline)")].runs
    notes.warnings(ledger, file, runs_of)
    notes.copies(ledger, file, runs_of)
    return found
