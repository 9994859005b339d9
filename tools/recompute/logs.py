"""Reads the logs of perf_test (docs/internals/logs.md). The figures of a run are computed from its rows and the cells
of its histograms."""

import json
import math
import re

# Builds before this time (2026-11-25 00:47 UTC) divide the CPU time of the measured seconds by the messages received in
# these seconds. A middleware with a backlog receives further messages afterwards, which are not counted, so its figure
# is up to 23 % too high. Later builds count CPU time and messages until the last message.
DRAINED_SINCE_MS = 1_795_567_620_000
# Builds from DRAINED_SINCE_MS until this time (2026-11-28 12:40 UTC) also count the CPU time between the last row and
# the end of the workers, which only the summary contains. For a reader that busy-waits, this is up to 2 % more.
IN_ROWS_SINCE_MS = 1_795_869_600_000


class Run:
    """A run of perf_test. Its figures come from the rows; the summary gives the measured length, the memory of
    processes and the daemons."""

    def __init__(self, path):
        log = json.loads(path.read_text())
        if log.get("schema") != "gantry.perf_test/2":
            raise ValueError(f"{path}: the schema is {log.get('schema')}, and this program reads gantry.perf_test/2")
        self.rows, self.summary, self.spec = log["rows"], log["summary"], log["run"]["spec"]
        self.topology, self.environment = log["run"].get("topology"), log["environment"]
        self.created_ms = log["run"]["created_unix_ms"]

    def series(self, name):
        """The histogram over all rows: pairs of a time in ns and a count, sorted by time."""
        found = {}
        for row in self.rows:
            for time_ns, n in row["total"][name]["cells"]:
                found[time_ns] = found.get(time_ns, 0) + n
        return sorted(found.items())

    def percentile(self, percent, name="latency"):
        """The end of the histogram cell that contains the percentile, but at most the longest time, ns."""
        cells = self.series(name)
        n = sum(count for _, count in cells)
        wanted, so_far = max(1, math.ceil(percent * n / 100)), 0
        for time_ns, count in cells:
            so_far += count
            if so_far >= wanted:
                return min(time_ns, int(self.max(name)))
        return None

    def max(self, name="latency"):
        """The longest time, ns."""
        return max((row["total"][name]["max_ns"] for row in self.rows if row["total"][name]["n"]), default=None)

    def min(self, name="latency"):
        """The shortest time, ns."""
        return min((row["total"][name]["min_ns"] for row in self.rows if row["total"][name]["n"]), default=None)

    def n(self, name="latency"):
        """The number of measured times."""
        return sum(row["total"][name]["n"] for row in self.rows)

    def mean(self, name="latency"):
        """The mean of all measured times, ns."""
        parts = [row["total"][name] for row in self.rows if row["total"][name]["n"]]
        n = sum(part["n"] for part in parts)
        return sum(part["mean_ns"] * part["n"] for part in parts) / n if n else None

    def sum(self, side, field="samples"):
        """The sum of a count over all rows, such as messages sent or received, their bytes, or copies."""
        return sum(row["total"][side][field] for row in self.rows)

    def measured(self):
        """The rows of the measured seconds. A run may have a last row after them, in which it waits for missing
        messages."""
        found, length_s = [], 0.0
        for row in self.rows:
            if length_s >= self.summary["measured_s"] - 1e-6:
                break
            length_s += row["length_s"]
            found.append(row)
        return found

    def cpu_ns(self, rows=None):
        """CPU time of all workers and daemons, without the instrument's threads; by default in the measured seconds."""
        used = sum(row["used"]["user_ns"] + row["used"]["system_ns"] for row in rows or self.measured())
        return used + sum(daemon["cpu_ns"] for daemon in self.summary["daemons"])

    def cpu_per_message(self):
        """CPU time divided by the messages received in it, ns. Both are counted in the measured seconds, or until the
        last message ([`DRAINED_SINCE_MS`]). A reader that busy-waits for lost messages also counts only the measured
        seconds."""
        if self.is_cpu_in_summary_only():
            return self.summary["cpu_per_message_ns"]
        is_wait_for_lost = self.spec["wait"] == "spin" and self.lost() > self.sum("received", "overwritten")
        is_drained = self.created_ms >= DRAINED_SINCE_MS and not is_wait_for_lost
        rows = self.rows if is_drained else self.measured()
        received = sum(row["total"]["received"]["samples"] for row in rows)
        return self.cpu_ns(rows) / received if received else None

    def is_cpu_in_summary_only(self):
        """True if a part of the counted CPU time is in no row ([`IN_ROWS_SINCE_MS`])."""
        return DRAINED_SINCE_MS <= self.created_ms < IN_ROWS_SINCE_MS

    def processes(self):
        """The processes whose memory is counted."""
        return self.summary["workers"] + self.summary["daemons"]

    def peak_kib(self):
        """The sum of the peak memory of all processes."""
        return sum(process["memory"]["peak_rss_kib"] for process in self.processes())

    def pss_kib(self):
        """The memory of all processes at the end, without the memory in which workers count messages. A page that
        several processes share is counted once. Mapped files (programs, libraries) count as in the largest worker,
        because the coordinator also maps them."""
        workers, daemons = self.summary["workers"], self.summary["daemons"]
        without_files = lambda of: sum(part["pss_kib"] for kind, part in of["footprint"].items() if kind != "file")
        files = max(worker["footprint"]["file"]["rss_kib"] for worker in workers)
        of_daemons = sum(without_files(daemon) + daemon["footprint"]["file"]["pss_kib"] for daemon in daemons)
        counts = sum(worker["instrument_bytes"] or 0 for worker in workers) / 1024
        return max(0, sum(map(without_files, workers)) + files + of_daemons - counts)

    def lost(self):
        """The number of messages that were sent but not received, summed over the subscriptions."""
        if self.topology:
            return sum(of["sent"] - of["received"]["samples"] for of in self.summary["subscriptions"])
        subscriptions = len(self.summary["subscriptions"])
        return self.sum("sent") * subscriptions - self.sum("received")

    def used(self, *fields):
        """The resources that all workers have used since their start."""
        return sum(worker["used"][field] for worker in self.summary["workers"] for field in fields)

    def hz(self):
        """The number of messages received per second."""
        return self.sum("received") / self.summary["measured_s"]

    def mb_per_s(self):
        """The number of megabytes received per second."""
        return self.sum("received", "bytes") / self.summary["measured_s"] / 1e6

    def copied(self):
        """The number of copies, on publish and on take, in a run that requested loans."""
        return self.sum("sent", "copied") + self.sum("received", "copied")

    def path(self):
        """`loaned` if no message was copied, `copied` if all messages were copied, else `partly loaned`."""
        if not self.spec["zero_copy"] or not self.copied():
            return "loaned" if self.spec["zero_copy"] else "copied"
        loaned = self.sum("sent", "copied") < self.sum("sent") and self.sum("received", "copied") < self.sum("received")
        return "partly loaned" if loaned else "copied"

    def wait(self):
        """The wait of the subscriptions, and whether messages are pushed."""
        return self.spec["wait"] + (" (push)" if self.spec["delivery"] == "push" else "")

    def qos(self):
        """The quality of service, as the headings show it."""
        depth = f" {self.spec['history_depth']}" if self.spec["history"] == "KEEP_LAST" else ""
        return f"{self.spec['reliability']}, {self.spec['durability']}, {self.spec['history']}{depth}"


def folder_name(contestant):
    """The name of a contestant, or of an option's value, as it appears in names of logs."""
    return re.sub(r"[^A-Za-z0-9.=-]", "_", contestant)


def shortfall(log):
    """The kind and the sentence of a shortfall (a run without figures); None if the run has figures."""
    file = log.with_suffix("").with_name(log.stem + ".failed.json")
    if not file.exists():
        return None
    found = json.loads(file.read_text())
    return found["kind"], found["sentence"]
