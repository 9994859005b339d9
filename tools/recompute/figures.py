"""Statistics over rounds, and numbers as text with the units of the tables. A round is one run of each contestant."""


def median(values):
    """Returns the middle value, or the mean of the two middle values; None if there are no values."""
    values = sorted(value for value in values if value is not None)
    if not values:
        return None
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def interval(values):
    """Returns two of the values as an interval that contains the true median with a probability of at least 95 % if
    there are enough values, and this probability (sign test)."""
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
    """The ratios of two figures, one for each round."""

    def __init__(self, bases, others):
        pairs = [(base, other) for base, other in zip(bases, others) if base is not None and other is not None]
        self.values = [base / other for base, other in pairs]

    def parts(self):
        """The median and its interval, such as `0.475 [0.300, 0.739]`; a single round has no interval."""
        if len(self.values) == 1:
            return [(self.values[0], fixed(3))]
        middle, low, high = ((value, fixed(3)) for value in self.numbers())
        return [middle, " [", low, ", ", high, "]"]

    def numbers(self):
        """The median and the two ends of its interval."""
        low, high, _ = interval(self.values)
        return median(self.values), low, high

    def finding(self):
        """Returns `better` if the base is smaller and the interval does not contain 1."""
        low, high, confidence = interval(self.values)
        if confidence < 0.95:
            return "too few rounds to say"
        if low <= 1 <= high:
            return "no difference shown"
        return "better" if median(self.values) < 1 else "worse"


def fixed(digits, suffix=""):
    """A function that writes a number with `digits` digits after the point."""
    return lambda value: f"{value:.{digits}f}{suffix}"


def thousands(digits=0):
    """A function that writes a number with commas between thousands."""
    return lambda value: f"{value:,.{digits}f}"


count = fixed(0)


def time(ns):
    """Writes a time with a suitable unit: 999 ns, 12.3 µs, 1.00 ms, 1.00 s."""
    size = abs(ns)
    if size < 999.5:
        return f"{ns:.0f} ns"
    if size < 999_950:
        return f"{ns / 1e3:.1f} µs"
    if size < 999_950_000:
        return f"{ns / 1e6:.2f} ms"
    return f"{ns / 1e9:.2f} s"


def mib(kib):
    """Writes a size of memory."""
    return f"{kib / 1024:.1f} MiB"


def three(value):
    """Writes a number with three significant digits; from 100 on, with all digits before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def two(value):
    """Writes a number with two significant digits; from 100 on, with all digits before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def span(values, show=three):
    """The median with the smallest and the largest value, such as `25.9 (23.5–32.7)`; `–` if there are no values."""
    values = sorted(value for value in values if value is not None)
    if not values:
        return ["–"]
    low, high = values[0], values[-1]
    ends = [" (", (low, show), "–", (high, show), ")"] if show(low) != show(high) else []
    return [(median(values), show)] + ends
