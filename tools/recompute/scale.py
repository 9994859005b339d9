"""The tables of `perf_test scale`. Their logs are not published, so the figures of each point come from the folder's
JSON. The values that follow from several figures (rates, estimates, errors) are computed."""

import json
import re

from ledger import Checked
from figures import count, fixed, mib, thousands, time
from tables import boxes

NO_LOGS = "the logs of `perf_test scale` are not published"


def read(folder):
    return json.loads((folder / "scale.json").read_text())


def endpoints(load):
    return load["publishers"] + load["subscriptions"]


def carried(point):
    """The load of a point, reduced by the messages that timers skipped and by the lost messages."""
    of, load = point["figures"], point["load"]
    sent = of["sent"] / of["due"] if of["due"] else 1
    received = of["received"] / (of["received"] + of["lost"]) if of["received"] + of["lost"] else 1
    faster = {key: load[key] * sent for key in ("wake_ups_hz", "sent_hz", "sent_bytes_per_s")}
    return {**load, **faster, "received_hz": load["received_hz"] * sent * received}


def estimated(estimate, load):
    """The estimated CPU time (percent of a core) and memory (KiB) of a load, by the weights of the fit."""
    wanted = {
        "cpu": [load["processes"], load["wake_ups_hz"], endpoints(load), load["sent_hz"], load["received_hz"],
                load["sent_bytes_per_s"]],
        "memory": [1, load["processes"], load["publishers"], load["subscriptions"], load["small_bytes"], load["large_bytes"]],
    }
    return [sum(map(float.__mul__, map(float, estimate[name]), map(float, terms))) for name, terms in wanted.items()]


def part(number, of):
    """A number of messages, as a percentage of `of`."""
    return ((100 * number / of if of else 0), lambda value: "0 %" if value == 0 else f"{value:.2f} %")


def point_cells(point):
    """The cells of a measured topology."""
    of, load = point["figures"], carried(point)
    return [
        (endpoints(load), count), (load["received_hz"], count), (of["cpu_percent"], fixed(1)), (of["cpu_per_message_ns"], time),
        (of["instrument_percent"], fixed(1)), (of["memory_kib"], mib), (of["instrument_kib"], mib),
        (of["latency_mean_ns"], time), (of["latency_p99_ns"], time), part(of["late"], of["received"]),
        part(of["too_late"], of["received"]), f"{of['lost']}, {of['skipped']}", (of["start_up_ns"], time),
    ]


def check_cells(point, estimate):
    """The cells of a topology that was not used for the fit: measured and estimated values, and errors."""
    of = point["figures"]
    cpu, memory = estimated(estimate, carried(point))
    error = lambda value: f"{100 * value:+.0f} %"
    return [
        part(of["sent"], of["due"]), (of["cpu_percent"], fixed(1, " %")), (cpu, fixed(1, " %")),
        (cpu / of["cpu_percent"] - 1, error), (of["memory_kib"], mib), (memory, mib), (memory / of["memory_kib"] - 1, error),
        part(of["too_late"], of["received"]),
    ]


def check_text(ledger, file):
    """Checks the tables that the command printed."""
    found = read(file.parent)
    points = {point["name"]: point for point in found["sizes"] + found["variations"] + found["checks"]}
    for table in boxes(file):
        check = Checked(ledger, table)
        for row, (name, *_) in enumerate(table.rows):
            if name not in points:
                check.fail(row, "the folder's JSON has no such topology")
            elif table.header[1] == "sent of due":
                check.cells(row, check_cells(points[name], found["estimate"]))
            else:
                check.cells(row, point_cells(points[name]))
        for column in range(1, len(table.header)):
            check.json_only(NO_LOGS, column)


def check_readme(ledger, table, folder):
    """Checks the README's table, which quotes the runs with many processes and with one process."""
    check = Checked(ledger, table)
    for row, (name, *_) in enumerate(table.rows):
        nodes, one = re.fullmatch(r"([\d,]+)(, one process)?", name).groups()
        points = read(folder / ("scale-one-process" if one else "scale"))["sizes"]
        point = next((point for point in points if point["shape"]["nodes"] == int(nodes.replace(",", ""))), None)
        if point is None:
            check.fail(row, "the folder's JSON has no such size")
            continue
        of, load = point["figures"], carried(point)
        check.cells(row, [
            (endpoints(load), thousands()), (load["received_hz"], thousands()), (of["cpu_percent"], fixed(1)),
            (of["memory_kib"] / 1024, fixed(1)), (of["latency_mean_ns"] / 1e6, fixed(2)), str(of["too_late"]), str(of["lost"]),
            (of["start_up_ns"] / 1e9, fixed(2)),
        ])
    for column in range(1, len(table.header)):
        check.json_only(NO_LOGS, column)
