"""The sentences with figures under the tables: warnings of runs, copies instead of loans, and knees of latency over
size."""

import math
import re

from ledger import Checked
from figures import fixed
from tables import sentences

PLACES = 200


def warnings(ledger, file, runs_of):
    """Checks the number of runs with warnings, and the kinds of warnings. `runs_of` returns the runs for a heading and
    a contestant."""
    pattern = r"- (.+?): (?:its run has|(.+?) have) warnings: (.+?); (?:the worst|for example): .*"
    table = sentences(file, pattern, "warnings, under the tables", ["contestant", "runs", "kinds"])
    check = Checked(ledger, table, keys=2)
    for row, (heading, contestant, number, published) in enumerate(table.rows):
        runs = runs_of(heading, contestant)
        kinds = {}
        for run in runs:
            for kind in {warning["kind"] for warning in run.summary["warnings"]}:
                kinds[kind] = kinds.get(kind, 0) + 1
        warned = sum(bool(run.summary["warnings"]) for run in runs)
        # The published order is the severity of the kinds, which is not in the logs; so it is taken from the document.
        order = re.findall(r"(\S+) \(", published)
        names = sorted(kinds, key=lambda kind: (order.index(kind) if kind in order else len(order), kind))
        table.rows[row][2] = number or "1 of 1 runs"
        check.cells(row, [f"{warned} of {len(runs)} runs", ", ".join(f"{kind} ({kinds[kind]})" for kind in names)])


def copies(ledger, file, runs_of):
    """Checks the number of messages that were copied in runs that requested loans."""
    pattern = r"- (.+?) copied messages (\d+) times, .*"
    table = sentences(file, pattern, "copies in place of loans, under the tables", ["contestant", "times"])
    check = Checked(ledger, table, keys=2)
    for row, (heading, contestant, _) in enumerate(table.rows):
        check.cell(row, 2, str(sum(run.copied() for run in runs_of(heading, contestant))))


def knees(ledger, file, points_of, caches):
    """Checks the knee of each series. `points_of` returns sizes and latencies for a heading and a message path."""
    pattern = (r"- (.+?): (?:no knee, one line explains the latencies as well|knee at (.+?): latency grows with the size to the "
               r"power of (\S+) before and (\S+) after it; the nearest cache is (\S+) with (.+))")
    table = sentences(file, pattern, "knees, under the tables", ["way", "knee", "before", "after", "cache", "its size"])
    check = Checked(ledger, table, keys=2)
    for row, cells in enumerate(table.rows):
        table.rows[row] = [cell or "-" for cell in cells]
        found = knee(points_of(cells[0], cells[1]))
        if found is None:
            check.cells(row, ["-"] * 5)
            continue
        at, before, after = found
        name = min(caches, key=lambda name: abs(math.log(caches[name] / at)))
        check.cells(row, [(at, size), (before, fixed(2)), (after, fixed(2)), name, (caches[name], size)])


def size(value):
    return f"{value / 1024:.0f} KiB" if value < 1 << 20 else f"{value / (1 << 20):.1f} MiB"


def squares(columns, values):
    """The sum of the squared deviations of a least-squares fit, and the weights of the columns. The columns are made
    orthogonal first."""
    bases, rest, shares = [], list(values), []
    dot = lambda one, other: sum(map(float.__mul__, one, other))
    for column in columns:
        own, of_bases = list(column), []
        for base in bases:
            part = dot(own, base) / dot(base, base)
            of_bases.append(part)
            own = [value - part * other for value, other in zip(own, base)]
        share = dot(rest, own) / dot(own, own)
        rest = [value - share * other for value, other in zip(rest, own)]
        bases.append(own)
        shares.append((share, of_bases))
    weights = [share for share, _ in shares]
    for index in range(len(columns) - 1, -1, -1):
        for earlier, part in enumerate(shares[index][1]):
            weights[earlier] -= weights[index] * part
    return dot(rest, rest), weights


def knee(points):
    """The size from which latency grows faster, and the powers before and after it. They come from two lines that meet,
    fitted on logarithmic axes. None if one line explains the points as well, by Akaike's criterion with its correction
    for few points."""
    points = sorted((math.log(x), math.log(y)) for x, y in points)
    x, y = ([point[axis] for point in points] for axis in (0, 1))
    n, ones = len(points), [1.0] * len(points)
    if n < 7:
        return None
    of_one, _ = squares([ones, x], y)
    if math.sqrt(of_one / n) < 0.05:
        return None
    fits = []
    for step in range(PLACES + 1):
        at = x[1] + (x[-2] - x[1]) * step / PLACES
        of_two, (_, before, more) = squares([ones, x, [max(value - at, 0.0) for value in x]], y)
        fits.append((of_two, at, before, more))
    of_two, at, before, more = min(fits)
    criterion = lambda deviation, k: n * math.log(deviation / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1)
    if more <= 0 or criterion(of_two, 5) >= criterion(of_one, 3):
        return None
    return math.exp(at), before, before + more
