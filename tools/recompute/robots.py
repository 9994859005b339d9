"""The tables of robots' topologies: in the README, and in the output of each run. The histogram of a log covers all
subscriptions together; the figures of a single subscription or publisher come from the summary."""

import re

from ledger import Checked
from logs import Run
from figures import fixed, time
from tables import aligned, sentences

OF_SUMMARY = "the log has the figures of each endpoint in its summary only"
ROW_NAMES = {"Cyclone DDS": "cyclonedds"}


def cpu_percent(run):
    """CPU time of the measured seconds, in percent of one core."""
    return run.cpu_ns() / run.summary["measured_s"] / 1e7


def of_received(run, field):
    return 100 * run.sum("received", field) / run.sum("received")


def load(run):
    """The CPU time of other programs, if the run has a warning about it."""
    texts = [warning["sentence"] for warning in run.summary["warnings"] if warning["kind"] == "load"]
    return re.search(r"used (\d+) %", texts[0])[1] if texts else "–"


def summary_row(run):
    """The cells of a run in the README's table."""
    skipped = sum(of["sent"]["skipped"] for of in run.summary["publishers"])
    micros = lambda ns: f"{ns / 1e3:.0f}"
    return [
        [str(run.sum("received", "late")), " (", (of_received(run, "late"), fixed(3)), " %)"],
        str(run.sum("received", "too_late")), str(run.lost()), str(skipped),
        (run.mean(), micros), (run.percentile(99), micros), (run.max(), lambda ns: f"{ns / 1e6:.2f}"),
        (cpu_percent(run), fixed(2)), (run.peak_kib(), lambda kib: f"{kib / 1024:.1f}"),
        (run.summary["start_up_ns"], lambda ns: f"{ns / 1e6:.0f}"), load(run),
    ]


def check_readme(ledger, table, logs):
    """Checks a table of the README: one topology, with a row for each executor."""
    check, topology = Checked(ledger, table), table.header[0]
    unused = {log.name for log in logs.glob(f"{topology}-*.json")}
    for row, (name, *_) in enumerate(table.rows):
        executor = re.fullmatch(r"Gantry `(\w+)`", name)
        log = logs / f"{topology}-{f'gantry-{executor[1]}' if executor else ROW_NAMES.get(name, name)}.json"
        unused.discard(log.name)
        if log.exists():
            check.cells(row, summary_row(Run(log)))
        else:
            check.fail(row, f"there is no {log.name} in the logs")
    check.lacks(unused)


def mark(n, percent):
    """`*` if fewer than ten of n times are beyond the percentile."""
    return "" if round(n * (100 - percent) / 100, 6) >= 10 else "*"


def check_text(ledger, file, logs):
    """Checks the tables that a run printed."""
    run = Run(logs / f"{file.stem}.json")
    rules = {"publisher": publishers, "subscription": subscriptions, "slowest subscription": overload}
    for table in aligned(file, "topic"):
        check = Checked(ledger, table, name=f"{table.title}s", keys=2)
        rules[table.title](check, run)
        for column in range(2, len(table.header)):
            check.json_only(OF_SUMMARY, column)
    for table in aligned(file, "latency"):
        latencies(Checked(ledger, table, name="latency"), run)
    totals(ledger, file, run)
    targets(ledger, file, run)


def plans(run, kind):
    """The publishers or subscriptions of the topology, in order; each is a pair of the node's name and the plan."""
    return [(node["name"], plan) for process in run.topology["processes"] for node in process["nodes"] for plan in node[kind]]


def rows_of(check, entries):
    """Yields each row of the table with the entry of the same topic and node. Records an error for an entry without a
    row, and for a row without an entry."""
    found = {(entry["topic"], entry["node"]): entry for entry in entries}
    for row, (topic, node, *_) in enumerate(check.table.rows):
        if entry := found.pop((topic, node), None):
            yield row, entry
        else:
            check.fail(row, "the log has no such endpoint")
    for topic, node in found:
        check.fail(None, f"the table lacks {topic} {node}")


def publishers(check, run):
    of_plan = {(plan["topic"], node): plan for node, plan in plans(run, "publishers")}
    for row, entry in rows_of(check, run.summary["publishers"]):
        plan, sent = of_plan[entry["topic"], entry["node"]], entry["sent"]
        longest = entry["lateness"]["max_ns"]
        check.cells(row, [
            plan["pass_by"], str(plan["payload"]["message"]["bytes"]), (plan["rate_hz"], lambda hz: f"{hz:g}"),
            *(str(sent[field]) for field in ("samples", "skipped", "refused", "unsent")),
            [(min(entry["p50_ns"], longest), time), mark(entry["lateness"]["n"], 50)], (longest, time),
        ])


def subscriptions(check, run):
    for row, entry in rows_of(check, run.summary["subscriptions"]):
        received, n, longest = entry["received"], entry["latency"]["n"], entry["latency"]["max_ns"]
        missing = entry["sent"] - received["samples"]
        counts_overwritten = run.spec["communicator"] == "Gantry"
        check.cells(row, [
            str(entry["sent"]), str(received["samples"]), str(received["overwritten"]) if counts_overwritten else "-",
            str(entry["lost"] - received["overwritten"]), str(missing - entry["lost"]),
            str(received["late"]), str(received["too_late"]), (entry["latency"]["mean_ns"], time),
            [(min(entry["p50_ns"], longest), time), mark(n, 50)], [(min(entry["p99_ns"], longest), time), mark(n, 99)],
            (longest, time),
        ])


def overload(check, run):
    """Checks the table of slow subscriptions. It shows, for each topic, the subscription whose latencies have the
    largest sum."""
    total = lambda entry: entry["latency"]["mean_ns"] * entry["latency"]["n"]
    slowest = {}
    for entry in run.summary["subscriptions"]:
        if entry["topic"] not in slowest or total(entry) > total(slowest[entry["topic"]]):
            slowest[entry["topic"]] = entry
    rates = {}
    for _, plan in plans(run, "publishers"):
        rates[plan["topic"]] = max(rates.get(plan["topic"], 0), plan["rate_hz"])
    seconds = lambda value: "-" if value is None else (value, fixed(1, " s"))
    for row, entry in rows_of(check, slowest.values()):
        of = entry["overload"]
        growth, error = of["growth_ns_per_s"], of["growth_error_ns_per_s"]
        shown = growth is not None and growth > error
        check.cells(row, [
            (1e9 / rates[entry["topic"]], time), (total(entry), time), seconds(of["outgrows_period_after_s"]),
            [(growth, time), "/s"] if shown else "-", seconds(of["overflows_in_s"] if shown else None),
        ])


def latencies(check, run):
    for row, (name, *_) in enumerate(check.table.rows):
        series = {"from send": "latency", "from due": "response"}[name]
        n, longest = run.n(series), run.max(series)
        percentiles = [[(run.percentile(percent, series), time), mark(n, percent)] for percent in (50, 90, 99, 99.9, 99.99)]
        check.cells(row, [str(n), (run.min(series), time), (run.mean(series), time), *percentiles, (longest, time)])


def totals(ledger, file, run):
    """Checks the lines of sums, each as a table with one row."""
    patterns = {
        r"  sent +(\d+) published, (\d+) skipped, (\d+) refused, (\d+) unsent":
            [str(run.sum("sent", field)) for field in ("samples", "skipped", "refused", "unsent")],
        r"  received +(\d+) of (\d+) that were sent .*; missing (\d+) \((\S+) %\).*":
            [str(run.sum("received")), str(run.sum("received") + run.lost()), str(run.lost()),
             (100 * run.lost() / (run.sum("received") + run.lost()), fixed(3))],
        r"  late +(\d+) \((\S+) %\); too late (\d+) \((\S+) %\); of (\d+) received":
            [str(run.sum("received", "late")), (of_received(run, "late"), fixed(3)), str(run.sum("received", "too_late")),
             (of_received(run, "too_late"), fixed(3)), str(run.sum("received"))],
        r"  CPU +(\S+) % of one core, (\S+) % of all (\d+), (.*) per message":
            [(cpu_percent(run), fixed(2)), (cpu_percent(run) / run.summary["cores"], fixed(2)), str(run.summary["cores"]),
             (run.cpu_per_message(), time)],
        # perf_test prints the peak with the daemons since 2026-11-29; these folders are older and have no daemons.
        r"  memory +(\d+) KiB resident at the end, (\d+) KiB peak, .*":
            [str(sum(process["memory"]["rss_kib"] for process in run.processes())), str(run.peak_kib())],
    }
    for pattern, found in patterns.items():
        table = sentences(file, pattern, f"line `{pattern.split()[0]}`", [f"number {index + 1}" for index in range(len(found))])
        check = Checked(ledger, table)
        if len(table.rows) != 1:
            check.fail(None, f"there are {len(table.rows)} such lines")
        for row in range(len(table.rows)):
            check.cells(row, found)


def targets(ledger, file, run):
    """Checks the requirements of the target: each measured value, and whether it meets the requirement."""
    short = lambda value: f"{value:.3f}".rstrip("0").rstrip(".")
    found = {
        "late messages": (of_received(run, "late"), " %"),
        "too late messages": (of_received(run, "too_late"), " %"),
        "lost and overwritten messages": (100 * run.lost() / (run.sum("received") + run.lost()), " %"),
        "CPU of all processes": (cpu_percent(run) / run.summary["cores"], " % of all cores"),
        "peak resident memory of all processes": (run.peak_kib(), " KiB"),
    }
    pattern = r"  (.+?) <= (\S+) .*?\s{2,}(\S.*?)\s{2,}(met|NOT met)"
    check = Checked(ledger, sentences(file, pattern, "target", ["figure", "limit", "found", "verdict"]), keys=3)
    for row, (_, figure, limit, *_) in enumerate(check.table.rows):
        value, unit = found[figure]
        check.cell(row, 3, (value, lambda value, unit=unit: short(value) + unit))
        check.cell(row, 4, "met" if value <= float(limit) else "NOT met")
