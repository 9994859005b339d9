"""perf_test's own logs (docs/internals/logs.md): the figures of a run from its rows and the cells of its histograms."""

import json
import math
import re

# Builds before this moment (2026-11-25 00:47 UTC) divide the CPU time of the measured seconds by the messages received
# within them. A middleware with a backlog receives more after them, which this does not count: it has up to 23 % too
# much. Later builds count both until the last message.
DRAINED_SINCE_MS = 1_795_567_620_000
# Builds between that one and this moment (2026-11-28 12:40 UTC) also count the CPU time between the last row and the end
# of the workers, which only the summary has: a reader that busy-waits has up to 2 % more.
IN_ROWS_SINCE_MS = 1_795_869_600_000


class Run:
    """A run. Its figures come from the rows; the summary gives the lengths, the memory of processes and the daemons."""

    def __init__(self, path):
        log = json.loads(path.read_text())
        if log.get("schema") != "gantry.perf_test/2":
            raise ValueError(f"{path}: the schema is {log.get('schema')}, and this program reads gantry.perf_test/2")
        self.rows, self.summary, self.spec = log["rows"], log["summary"], log["run"]["spec"]
        self.topology, self.environment = log["run"].get("topology"), log["environment"]
        self.created_ms = log["run"]["created_unix_ms"]

    def series(self, name):
        """The cells of all rows together: time in ns and count, in order."""
        found = {}
        for row in self.rows:
            for time_ns, n in row["total"][name]["cells"]:
                found[time_ns] = found.get(time_ns, 0) + n
        return sorted(found.items())

    def percentile(self, percent, name="latency"):
        """The end of the cell below which this part of the times lies, but at most the longest time, ns."""
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
        """The number of times."""
        return sum(row["total"][name]["n"] for row in self.rows)

    def mean(self, name="latency"):
        """The mean of the times of all rows, ns."""
        parts = [row["total"][name] for row in self.rows if row["total"][name]["n"]]
        n = sum(part["n"] for part in parts)
        return sum(part["mean_ns"] * part["n"] for part in parts) / n if n else None

    def sum(self, side, field="samples"):
        """A count of all rows: messages sent or received, their bytes, copies."""
        return sum(row["total"][side][field] for row in self.rows)

    def measured(self):
        """The rows of the measured seconds. The last row of a run may lie behind them: it waits for missing
        messages."""
        found, length_s = [], 0.0
        for row in self.rows:
            if length_s >= self.summary["measured_s"] - 1e-6:
                break
            length_s += row["length_s"]
            found.append(row)
        return found

    def cpu_ns(self, rows=None):
        """CPU time of all workers, without the instrument's threads, and of daemons in the measured seconds."""
        used = sum(row["used"]["user_ns"] + row["used"]["system_ns"] for row in rows or self.measured())
        return used + sum(daemon["cpu_ns"] for daemon in self.summary["daemons"])

    def cpu_per_message(self):
        """CPU time by the messages received in it, ns: of the measured seconds, or until the last message
        ([`DRAINED_SINCE_MS`]) unless a reader busy-waits then for lost messages."""
        if self.is_cpu_in_summary_only():
            return self.summary["cpu_per_message_ns"]
        is_wait_for_lost = self.spec["wait"] == "spin" and self.lost() > self.sum("received", "overwritten")
        is_drained = self.created_ms >= DRAINED_SINCE_MS and not is_wait_for_lost
        rows = self.rows if is_drained else self.measured()
        received = sum(row["total"]["received"]["samples"] for row in rows)
        return self.cpu_ns(rows) / received if received else None

    def is_cpu_in_summary_only(self):
        """Whether no row has a part of the CPU time that counts ([`IN_ROWS_SINCE_MS`])."""
        return DRAINED_SINCE_MS <= self.created_ms < IN_ROWS_SINCE_MS

    def processes(self):
        """The processes whose memory counts."""
        return self.summary["workers"] + self.summary["daemons"]

    def peak_kib(self):
        """The sum of the peaks of all processes."""
        return sum(process["memory"]["peak_rss_kib"] for process in self.processes())

    def pss_kib(self):
        """The memory of all processes at the end, without the workers' counts of messages. A page that several share
        counts once; the files that workers map (programs, libraries) count as in the largest worker, because the
        coordinator maps them, too."""
        workers, daemons = self.summary["workers"], self.summary["daemons"]
        without_files = lambda of: sum(part["pss_kib"] for kind, part in of["footprint"].items() if kind != "file")
        files = max(worker["footprint"]["file"]["rss_kib"] for worker in workers)
        of_daemons = sum(without_files(daemon) + daemon["footprint"]["file"]["pss_kib"] for daemon in daemons)
        counts = sum(worker["instrument_bytes"] or 0 for worker in workers) / 1024
        return max(0, sum(map(without_files, workers)) + files + of_daemons - counts)

    def lost(self):
        """Messages that were sent and not received by a subscription."""
        if self.topology:
            return sum(of["sent"] - of["received"]["samples"] for of in self.summary["subscriptions"])
        subscriptions = len(self.summary["subscriptions"])
        return self.sum("sent") * subscriptions - self.sum("received")

    def used(self, *fields):
        """Resources that all workers have used since each started."""
        return sum(worker["used"][field] for worker in self.summary["workers"] for field in fields)

    def hz(self):
        """Messages received per second."""
        return self.sum("received") / self.summary["measured_s"]

    def mb_per_s(self):
        """Megabytes received per second."""
        return self.sum("received", "bytes") / self.summary["measured_s"] / 1e6

    def copied(self):
        """Copies of messages, on publish and on take, although loans were asked for."""
        return self.sum("sent", "copied") + self.sum("received", "copied")

    def path(self):
        """`loaned` if no message was copied, `copied` if all were."""
        if not self.spec["zero_copy"] or not self.copied():
            return "loaned" if self.spec["zero_copy"] else "copied"
        loaned = self.sum("sent", "copied") < self.sum("sent") and self.sum("received", "copied") < self.sum("received")
        return "partly loaned" if loaned else "copied"

    def wait(self):
        """The way of waiting."""
        return self.spec["wait"] + (" (push)" if self.spec["delivery"] == "push" else "")

    def qos(self):
        """The quality of service as the headings have it."""
        depth = f" {self.spec['history_depth']}" if self.spec["history"] == "KEEP_LAST" else ""
        return f"{self.spec['reliability']}, {self.spec['durability']}, {self.spec['history']}{depth}"


def folder_name(contestant):
    """The name of a contestant, or of a value, in the names of logs."""
    return re.sub(r"[^A-Za-z0-9.=-]", "_", contestant)


def shortfall(log):
    """The kind and the sentence of a run without figures, or None."""
    file = log.with_suffix("").with_name(log.stem + ".failed.json")
    if not file.exists():
        return None
    found = json.loads(file.read_text())
    return found["kind"], found["sentence"]
