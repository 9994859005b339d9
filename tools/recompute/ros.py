"""The tables of ROS 2 programs over several RMWs. A cell is the median of the rounds, with the smallest and the largest
value."""

import json
import re

from ledger import Checked
from logs import Run
from figures import median, span, two
from tables import sentences

ROUDI = "the logs have no CPU time and no memory of RouDi"
MEMORY = "the programs' logs have neither peak nor proportional memory"
NO_LOGS = "the logs of these runs are not published"
RESOURCES = "the programs' logs have neither the CPU time of the whole process nor its peak memory"


def stem(case, name, round_):
    return f"{case} {name} {round_}".replace(",", "").replace(" ", "-")


class Folder:
    """The logs, and the JSON file of each script."""

    def __init__(self, folder, logs):
        self.logs, read = logs / "logs", lambda name: json.loads((folder / f"{name}.json").read_text())
        self.apex = read("apex") + read("apex-more")
        self.nodes, self.irobot, self.perf_test = read("nodes") + read("nodes-100"), read("irobot"), read("perf_test")


def csv(file, count):
    """Reads a CSV log. Returns the row before the measured seconds, and the rows of these seconds. The second with the
    first message does not count as measured."""
    lines = file.read_text().split("---EXPERIMENT-START---")[1].strip().splitlines()
    header = [name.strip() for name in lines[0].split(",")]
    rows = [dict(zip(header, map(float, line.split(",")))) for line in lines[1:] if line.count(",") >= len(header) - 1]
    for index, row in enumerate(rows):
        if row["T_experiment"] > 0.5 and row[count] > 0:
            return row, rows[index + 1:]
    raise ValueError(f"{file} has no second with messages")


def cpu_us(file, count):
    """CPU time of a process per message, µs."""
    before, rows = csv(file, count)
    used = lambda row: row["ru_utime"] + row["ru_stime"]
    return (used(rows[-1]) - used(before)) / sum(row[count] for row in rows) * 1e6


def apex_round(folder, result):
    """The figures of a run of performance_test, from its two CSV files; CPU time without RouDi."""
    of = folder.logs / stem(result["case"], result["contestant"], result["round"])
    _, rows = csv(of.with_name(of.name + "-sub.csv"), "received")
    received = sum(row["received"] for row in rows)
    return {
        "mean": sum(row["latency_mean (ms)"] * row["received"] for row in rows) / received * 1e3,
        "received": received, "lost": sum(row["lost"] for row in rows),
        "cpu": cpu_us(of.with_name(of.name + "-pub.csv"), "sent") + cpu_us(of.with_name(of.name + "-sub.csv"), "received"),
    }


def points_round(folder, result):
    """The figures of a run of the PointCloud2 program, from the output of both processes; CPU time without RouDi."""
    of = folder.logs / stem(result["case"], result["contestant"], result["round"])
    sub, pub = (json.loads(of.with_name(f"{of.name}-{side}.json").read_text()) for side in ("sub", "pub"))
    return {
        "mean": sub["mean_us"], "p50": sub["p50_us"], "p99": sub["p99_us"], "received": sub["received"], "lost": sub["lost"],
        "cpu": (pub["cpu_ns"] / pub["sent"] + sub["cpu_ns"] / sub["received"]) / 1e3,
    }


def perf_test_round(folder, result):
    """The figures of a run of `perf_test -c rclcpp`, from its log; CPU time without RouDi."""
    name = f"perf_test-{result['case']}-{result['contestant']}-{result['round']}".replace(", ", "-").replace(" ", "-")
    run = Run(folder.logs / f"{name}.json")
    workers = run.summary["workers"]
    return {
        "mean": run.mean() / 1e3, "p50": run.percentile(50) / 1e3, "p99": run.percentile(99) / 1e3,
        "received": run.sum("received"), "lost": run.lost(), "cpu": run.cpu_per_message() / 1e3,
        "peak": sum(worker["memory"]["peak_rss_kib"] for worker in workers) / 1024,
    }


def lost(rounds):
    """The number of lost messages of all rounds, and of sent ones."""
    gone, received = (sum(of[name] for of in rounds) for name in ("lost", "received"))
    return f"{gone:.0f} of {gone + received:,.0f}"


def has_roudi(result):
    return result["contestant"] == "cyclonedds, best"


def rounds_of(check, folder, results, case, name, row, of_round):
    """The figures of a row's rounds. CPU time with RouDi comes from the JSON; it must not be less than the time without
    RouDi in the logs."""
    results = [result for result in results if (result["case"], result["contestant"]) == (case, name)]
    if not results:
        check.fail(row, "the folder's JSON has no such run")
    rounds = [of_round(folder, result) for result in results]
    for of, result in zip(rounds, results):
        of["round"] = result["round"]
        if has_roudi(result):
            if of["cpu"] > result["cpu_us"]:
                check.fail(row, f"the JSON has {result['cpu_us']} µs with RouDi, and the logs {of['cpu']} µs without it")
            of["cpu"] = result["cpu_us"]
    if results and has_roudi(results[0]):
        check.json_only(ROUDI, next(at for at, head in enumerate(check.table.header) if head.startswith("CPU")), [row])
    return results, rounds


def apex(ledger, table, folder, best):
    """Checks a table of performance_test or of the PointCloud2 program."""
    check, case = Checked(ledger, table), table.title.split(": ")[0]
    of_round = points_round if case.startswith("PointCloud2") else apex_round
    for row, (name, *_) in enumerate(table.rows):
        results, rounds = rounds_of(check, folder, folder.apex, case, name, row, of_round)
        if not rounds:
            continue
        best.setdefault(case, {})[name] = rounds
        times = [span([of[key] for of in rounds]) for key in ("mean", "p50", "p99") if key in rounds[0]]
        peaks = [span([result["peak_mib"][index] for result in results]) for index in range(3)]
        peaks[2] = peaks[2] if has_roudi(results[0]) else ""
        check.cells(row, [*times, span([of["cpu"] for of in rounds]), lost(rounds), *peaks,
                          span([result["pss_mib"] for result in results])])
    check.lacks(result["contestant"] for result in folder.apex if result["case"] == case)
    for column in range(len(table.header) - 4, len(table.header)):
        check.json_only(MEMORY, column)


def ratios(ledger, file, best):
    """Checks the sentences that compare the best row of Gantry with the best row of the others (by the medians), by the
    ratios of their rounds."""
    pattern = r"(Latency|CPU time): (.*) takes (.*) × that of the best other, (.*)\."
    table = sentences(file, pattern, "Gantry beside the best other, under the tables", ["figure", "Gantry", "ratio", "other"])
    check = Checked(ledger, table, keys=2)
    for row, (heading, figure, *_) in enumerate(table.rows):
        of_case, key = best[heading.split(": ")[0]], {"Latency": "mean", "CPU time": "cpu"}[figure]
        middle = lambda name: median(of[key] for of in of_case[name])
        ours = min((name for name in of_case if name.startswith("gantry")), key=middle)
        other = min((name for name in of_case if not name.startswith("gantry")), key=middle)
        by_round = {of["round"]: of[key] for of in of_case[other]}
        found = [of[key] / by_round[of["round"]] for of in of_case[ours] if of["round"] in by_round]
        check.cells(row, [ours, span(found, two), other])


def perf_test(ledger, table, folder):
    """Checks a table of `perf_test -c rclcpp`."""
    check, case = Checked(ledger, table), re.match(r"perf_test -c rclcpp, (.*?): ", table.title)[1]
    for row, (name, *_) in enumerate(table.rows):
        _, rounds = rounds_of(check, folder, folder.perf_test, case, name, row, perf_test_round)
        keys = ("mean", "p50", "p99", "cpu", "peak")
        check.cells(row, [*(span([of[key] for of in rounds]) for key in keys), lost(rounds)])
    check.lacks(result["contestant"] for result in folder.perf_test if result["case"] == case)


def irobot(ledger, table, folder):
    """Checks a table of ros2-performance: its own totals, and the resources of the process."""
    check, topology = Checked(ledger, table), table.title
    for row, (name, *_) in enumerate(table.rows):
        results = [one for one in folder.irobot if (one["topology"], one["contestant"]) == (topology, name)]
        totals = []
        for result in results:
            log = folder.logs / f"{topology}-{name}-{result['round']}".replace(", ", "-")
            header, line = (log / f"{topology}_log" / "latency_total.txt").read_text().strip().splitlines()[:2]
            totals.append(dict(zip(header.split(), map(float, line.split()))))
        keys = ("received_msgs", "mean_us", "late_msgs", "too_late_msgs", "lost_msgs")
        check.cells(row, [
            *(span([of[key] for of in totals]) for key in keys),
            span([result["cpu_s"] + result["roudi_cpu_s"] for result in results]), span([one["peak_mib"] for one in results]),
            span([one["roudi_peak_mib"] for one in results]) if results and has_roudi(results[0]) else "",
        ])
    check.lacks(result["contestant"] for result in folder.irobot if result["topology"] == topology)
    for column in range(len(table.header) - 3, len(table.header)):
        check.json_only(RESOURCES, column)


def nodes(ledger, table, folder):
    """Checks a table with the start-up time and the memory of nodes."""
    check = Checked(ledger, table)
    number, processes = map(int, re.match(r"(\d+) nodes? in (\d+) process", table.title).groups())
    keys = ("ready_s", "cpu_s", "rss_mib", "pss_mib", "shared_kib", "idle_ms_per_s", "received")
    for row, (name, *_) in enumerate(table.rows):
        contestant, _, note = name.partition(" (")
        results = [one for one in folder.nodes
                   if (one["nodes"], one["processes"], one["contestant"]) == (number, processes, contestant)]
        good = [one for one in results if "failed" not in one]
        if not results or "failed" in note and note != f"{len(results) - len(good)} runs failed)":
            check.fail(row, f"{len(results) - len(good)} of {len(results)} runs failed")
        figures = [span([one[key] for one in good]) for key in keys]
        figures[-1] += [f" of {number}"] if good else []
        check.cells(row, figures)
    for column in range(1, len(table.header)):
        check.json_only(NO_LOGS, column)


def suites(ledger, tables, file):
    """Checks the sums over the programs of ROS 2's test suites. The counts of the single programs have no log."""
    programs = next(table for table in tables if table.title == "All programs")
    check = Checked(ledger, programs)
    for column in range(1, len(programs.header)):
        check.cannot("the output of the suites is not published; their sums are compared", column)
    of_programs = {}
    for name, *counts in programs.rows:
        for key in (name.split("/")[0], "all"):
            row = of_programs.setdefault(key, [[0, 0, 0] for _ in counts])
            for total, cell in zip(row, counts):
                total[:] = map(int.__add__, total, map(int, cell.split(" / ")))
    table = next(table for table in tables if table.header[0] == "suite")
    check, of_suite = Checked(ledger, table), [name.split("/")[0] for name, *_ in programs.rows]
    for row, (suite, *_) in enumerate(table.rows):
        sums = of_programs.pop(suite, [])
        check.cell(row, 1, "" if suite == "all" else str(of_suite.count(suite)))
        check.cells(row, [" / ".join(map(str, total)) for total in sums], 2)
    for suite in of_programs:
        check.fail(None, f"the table lacks {suite}")
