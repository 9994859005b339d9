"""Statistics of rounds, and numbers as text with the units of the tables."""


def median(values):
    """The middle value, or the mean of both middle ones; None without values."""
    values = sorted(value for value in values if value is not None)
    if not values:
        return None
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def interval(values):
    """Ends that hold the true median with 95 % or more, and the probability that they do (sign test): two of the
    values."""
    values = sorted(values)
    n = len(values)
    below, ways, found = 0.0, 1, (values[0], values[-1], 1 - 2 * 0.5**n)
    for dropped in range((n - 1) // 2 + 1):
        below += ways * 0.5**n
        if dropped and 1 - 2 * below < 0.95:
            break
        found = (values[dropped], values[n - 1 - dropped], max(0.0, 1 - 2 * below))
        ways = ways * (n - dropped) // (dropped + 1)
    return found


class Ratio:
    """The ratios of two figures within rounds."""

    def __init__(self, bases, others):
        pairs = [(base, other) for base, other in zip(bases, others) if base is not None and other is not None]
        self.values = [base / other for base, other in pairs]

    def parts(self):
        """The median and its interval, as in `0.475 [0.300, 0.739]`; a single round has no interval."""
        if len(self.values) == 1:
            return [(self.values[0], fixed(3))]
        low, high, _ = interval(self.values)
        return [(median(self.values), fixed(3)), " [", (low, fixed(3)), ", ", (high, fixed(3)), "]"]

    def finding(self):
        """`better` if the base has less in all of the interval."""
        low, high, confidence = interval(self.values)
        if confidence < 0.95:
            return "too few rounds to say"
        if low <= 1 <= high:
            return "no difference shown"
        return "better" if median(self.values) < 1 else "worse"


def fixed(digits, suffix=""):
    """A number with this many digits after the point."""
    return lambda value: f"{value:.{digits}f}{suffix}"


def thousands(digits=0):
    """The same with commas between thousands."""
    return lambda value: f"{value:,.{digits}f}"


count = fixed(0)


def time(ns):
    """A time with the unit that shows it best: 999 ns, 12.3 µs, 1.00 ms, 1.00 s."""
    size = abs(ns)
    if size < 999.5:
        return f"{ns:.0f} ns"
    if size < 999_950:
        return f"{ns / 1e3:.1f} µs"
    if size < 999_950_000:
        return f"{ns / 1e6:.2f} ms"
    return f"{ns / 1e9:.2f} s"


def mib(kib):
    """A size of memory."""
    return f"{kib / 1024:.1f} MiB"


def three(value):
    """Three digits, or all of the digits before the point from 100 on."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def two(value):
    """Two digits below 100."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def span(values, show=three):
    """The median, and the least and the largest value, as in `25.9 (23.5–32.7)`; `–` without values."""
    values = sorted(value for value in values if value is not None)
    if not values:
        return ["–"]
    low, high = values[0], values[-1]
    ends = [" (", (low, show), "–", (high, show), ")"] if show(low) != show(high) else []
    return [(median(values), show)] + ends
