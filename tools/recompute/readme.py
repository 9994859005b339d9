"""The table "What it costs" of README.md, the ratios to the closest middleware in the text below it, and the figures of
rclcpp over rmw_zenoh in results/README.md. They quote the published tables of contestants whose subscriptions block."""

import re

from ledger import Checked
from figures import Ratio, fixed, median, span
from tables import markdown

TITLE = "What it costs"
# The folder of results that README.md quotes, and its folders of one case each: the two of the table, and the two of
# rclcpp over rmw_zenoh.
FOLDER = "2026-11-29-epyc"
LARGE, SMALL, LARGE_ZENOH, SMALL_ZENOH = QUOTED = ("4mb", "256b", "4mb-rmw-zenoh", "256b-rmw-zenoh")
# The contestant of each row. The key is the middleware's name in the row, before its version.
ROWS = {
    "Gantry": "gantry:best", "iceoryx2": "iceoryx2:best", "iceoryx by its listener": "iceoryx-listener:best",
    "iceoryx": "iceoryx:best",
    "Cyclone DDS": "cyclonedds-listener:best", "Fast DDS": "fastdds-listener:best", "Zenoh": "zenoh-callback:best",
    "rclcpp": "rclcpp:best",
}
# The implementations of DDS. The table has the one with the lower median.
DDS = ("Cyclone DDS", "Fast DDS")
# The sentence with the ratios of Gantry to the closest middleware, and the name of that middleware in the table.
CLOSEST = re.compile(
    r"The closest is (?P<name>[^:]+): Gantry takes (?P<large>[\d.]+) times its time\s+with 4 MB \[(?P<large_low>[\d.]+) to "
    r"(?P<large_high>[\d.]+)\], (?P<small>[\d.]+) with 256 bytes \[(?P<small_low>[\d.]+) to (?P<small_high>[\d.]+)\]")
# The sentence with the medians of rclcpp over rmw_zenoh, in µs, by the executors of `rclcpp:best` and of `rclcpp`.
ZENOH = re.compile(
    r"rclcpp takes (\d+) µs with 4 MB\s+and (\d+) with 256 bytes by that row's executor, (\d+) and (\d+) by the default one "
    r"\((\d+) rounds\)")


def micros(ns):
    """Writes a time in µs, below ten with one digit after the point."""
    us = ns / 1e3
    return f"{us:.1f}" if us < 9.95 else f"{us:,.0f}"


def mib(kib):
    return f"{kib / 1024:.0f}"


def lost(runs, has_sum):
    """The number of messages that all runs lost; in the first row, also the number that they sent."""
    return f"{sum(run.lost() for run in runs):,}" + (f" of {sum(run.sum('sent') for run in runs):,}" if has_sum else "")


def name_of(cell):
    """The name of a row's middleware, without its version; None if no contestant is known for it."""
    return next((known for known in ROWS if cell.startswith(known)), None)


def check_closest(check, text, large, small):
    """Checks the sentence on the middleware with the largest ratios, as long as it is the same in both cases."""
    sentence = CLOSEST.search(text)
    if sentence is None:
        return check.fail(None, "the text below has no sentence on the closest middleware")
    for size, case in (("large", large), ("small", small)):
        base = case[ROWS["Gantry"]].latency
        ratios = {name: Ratio(base, case[ROWS[name]].latency) for name in ROWS if name != "Gantry"}
        closest = max(ratios, key=lambda name: median(ratios[name].values))
        if closest != sentence["name"]:
            check.fail(None, f"the text below names {sentence['name']} as the closest, but for the {size} messages it is {closest}")
        if sentence["name"] not in ratios:
            continue
        ratio = ratios[sentence["name"]]
        published = [sentence[size], sentence[f"{size}_low"], sentence[f"{size}_high"]]
        found = [fixed(2)(value) for value in ratio.numbers()]
        if published != found:
            check.fail(None, f"the text below has the ratios {published} to {sentence['name']}, recomputed {found}")


def check_zenoh(check, text, large, small):
    """Checks the sentence on rclcpp over rmw_zenoh."""
    sentence = ZENOH.search(text)
    if sentence is None:
        return check.fail(None, "results/README.md has no sentence on rclcpp over rmw_zenoh")
    found = [micros(median(case[name].latency)) for name in ("rclcpp:best", "rclcpp") for case in (large, small)]
    found.append(str(len(large["rclcpp"].runs)))
    if list(sentence.groups()) != found:
        check.fail(None, f"results/README.md has {list(sentence.groups())} for rclcpp over rmw_zenoh, recomputed {found}")


class FrontPage:
    """README.md, and the cases that it quotes as far as they are recomputed, by their folders."""

    def __init__(self, file):
        self.file = file
        self.cases = {}

    def quote(self, ledger, folder, cases):
        """Adds the case of a folder. Once the cases of all quoted folders are known, it checks the page."""
        if folder.parts[-2] == FOLDER and folder.name in QUOTED:
            [self.cases[folder.name]] = cases.values()
            if len(self.cases) == len(QUOTED):
                check(ledger, self.file, self.cases)

    def end(self):
        """Fails if a quoted folder is missing, because the page was not checked then."""
        if len(self.cases) != len(QUOTED):
            raise ValueError(f"results/{FOLDER} lacks one of {', '.join(QUOTED)}, which {self.file} quotes")


def check(ledger, file, cases):
    """Compares the table and the text with the quoted cases."""
    table = next((table for table in markdown(file) if table.title == TITLE), None)
    if table is None:
        raise ValueError(f"{file} has no table under `{TITLE}`: tools/recompute/readme.py names it")
    check = Checked(ledger, table)
    large, small, text = cases[LARGE], cases[SMALL], file.read_text()
    check_closest(check, text, large, small)
    check_zenoh(check, (file.parent / "results" / "README.md").read_text(), cases[LARGE_ZENOH], cases[SMALL_ZENOH])
    found = {name_of(cells[0]) for cells in table.rows}
    closest = CLOSEST.search(text)
    best_dds = min(DDS, key=lambda name: median(large[ROWS[name]].latency))
    for known in ("Gantry", "iceoryx2", best_dds, *([closest["name"]] if closest else ())):
        if known not in found:
            check.fail(None, f"it lacks {known}")
    for row, (name, *_) in enumerate(table.rows):
        known = name_of(name)
        if known is None:
            check.fail(row, "tools/recompute/readme.py does not name the contestant of this row")
            continue
        at, of_small = large[ROWS[known]], small[ROWS[known]]
        version = (name.removeprefix(known).split() or [""])[0]
        if not at.runs[0].spec["middleware_version"].startswith(version):
            check.fail(row, f"the version is {at.runs[0].spec['middleware_version']}")
        check.cells(row, [
            span(at.latency, micros), span(at.p99, micros), lost(at.runs, row == 0), span(at.cpu, micros),
            (median(run.pss_kib() for run in at.runs), mib),
            span(of_small.latency, micros), span(of_small.p99, micros), lost(of_small.runs, row == 0),
        ])
