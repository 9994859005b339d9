"""The account of all cells: equal, equal but for rounding, different, or not to be recomputed.

A cell is given as parts: texts, and numbers with the function that writes them. A cell that no rule has looked at is an
error, so no cell is passed over."""

import itertools

# A number halfway between two printed ones is rounded by its last bit, which depends on the order of sums.
NUDGE = 1e-9


def text_of(parts, nudges=itertools.repeat(0)):
    """The parts as text, with each number changed by this part of itself."""
    written, nudges = [], iter(nudges)
    for part in parts:
        if isinstance(part, tuple):
            value, show = part
            part = "-" if value is None else show(value * (1 + next(nudges)))
        written.append(part)
    return "".join(written)


def is_rounding(published, parts):
    """Whether numbers next to these give the published text."""
    numbers = sum(isinstance(part, tuple) for part in parts)
    if not 0 < numbers <= 6:
        return False
    return any(text_of(parts, nudges) == published for nudges in itertools.product((0, -NUDGE, NUDGE), repeat=numbers))


def cells_of(by_reason):
    """The number of cells of all reasons."""
    return sum(sum(of_columns.values()) for of_columns in by_reason.values())


class Checked:
    """A published table beside its recomputation. A row is found by its first cells, the `keys` columns."""

    def __init__(self, ledger, table, name=None, keys=1):
        self.ledger, self.table, self.keys = ledger, table, keys
        self.name = name or table.title
        self.done, self.differ, self.unknown, self.from_json = set(), [], {}, {}
        self.equal = self.rounded = 0
        ledger.checks.append(self)

    def cell(self, row, column, *parts):
        """Compares the cell in this row and column, both as indices, with the recomputed parts."""
        self.done.add((row, column))
        published, found = self.table.rows[row][column], text_of(parts)
        if published == found:
            self.equal += 1
        elif is_rounding(published, parts):
            self.rounded += 1
        else:
            self.differ.append((row, column, published, found))

    def cells(self, row, parts_of_columns, first=None):
        """Compares the cells of a row from the column `first` on; each is a list of parts."""
        for column, parts in enumerate(parts_of_columns, self.keys if first is None else first):
            self.cell(row, column, *([parts] if isinstance(parts, (str, tuple)) else parts))

    def cannot(self, reason, column, rows=None):
        """Counts the cells of a column that cannot be recomputed."""
        for row in range(len(self.table.rows)) if rows is None else rows:
            if (row, column) not in self.done:
                self.done.add((row, column))
                of_columns = self.unknown.setdefault(reason, {})
                of_columns[column] = of_columns.get(column, 0) + 1

    def json_only(self, reason, column, rows=None):
        """Notes that a column was compared with the JSON of the folder, or the summary of a log, for lack of raw
        values."""
        number = len(self.table.rows) if rows is None else len(rows)
        if number:
            self.from_json.setdefault(reason, {})[column] = number

    def lacks(self, names):
        """Notes rows that the table should have, by their first cells."""
        for name in sorted(set(names) - {cells[0] for cells in self.table.rows}):
            self.fail(None, f"it lacks {name}, which was measured")

    def fail(self, row, sentence):
        """Notes a row that cannot be found, or is missing."""
        self.differ.append((row, None, "", sentence))

    def end(self):
        """Notes the cells that no rule has looked at."""
        for row, cells in enumerate(self.table.rows):
            for column in range(self.keys, len(cells)):
                if (row, column) not in self.done:
                    self.differ.append((row, column, cells[column], "(no rule has recomputed this cell)"))

    def lines(self):
        """The result as lines of text."""
        unknown = cells_of(self.unknown)
        compared = self.equal + self.rounded + sum(column is not None for _, column, _, _ in self.differ)
        yield (f"  {compared:5} cells compared, {self.equal:5} equal, {self.rounded} but for rounding, {len(self.differ)} differ"
               f"{f', {unknown} not to be recomputed' if unknown else ''}: {self.name[:90]}")
        for row, column, published, found in self.differ:
            where = self.row_name(row)
            if column is None:
                yield f"        DIFFERS {where}: {found}"
            else:
                header = self.table.header[column] or f"column {column + 1}"
                yield f"        DIFFERS {where}, {header}: published `{published}`, recomputed `{found}`"
        for reason, of_columns in self.unknown.items():
            yield f"        not recomputed: {self.columns(of_columns)}: {reason}"
        for reason, of_columns in self.from_json.items():
            yield f"        no raw log: {self.columns(of_columns)}: {reason}"

    def columns(self, of_columns):
        """The names of columns, each with a number of cells."""
        return ", ".join(f"{number} of `{self.table.header[column] or 'name'}`" for column, number in of_columns.items())

    def row_name(self, row):
        """The first cells of a row."""
        if row is None or row >= len(self.table.rows):
            return "the table"
        return "row " + " / ".join(self.table.rows[row][: max(1, self.keys)])


class Ledger:
    """All tables of all documents."""

    def __init__(self):
        self.checks = []

    def print(self, root):
        """Prints the result of each table, and returns whether all agree."""
        document = None
        for check in self.checks:
            check.end()
            if not check.table.rows and not check.differ:
                continue
            if check.table.file != document:
                document = check.table.file
                print(document.relative_to(root) if document.is_relative_to(root) else document)
            print(*check.lines(), sep="\n")
        return not any(check.differ for check in self.checks)

    def differences(self):
        """The cells that differ, each with its file, for readers who see only the end of the output."""
        for check in self.checks:
            for line in check.lines():
                if "DIFFERS" in line:
                    yield f"{check.table.file}: {line.strip()}"

    def total(self):
        """All cells as a sentence."""
        checks = [check for check in self.checks if check.table.rows]
        equal, rounded, differ = (sum(map(of, self.checks)) for of in (
            lambda check: check.equal, lambda check: check.rounded, lambda check: len(check.differ)))
        unknown, json = (sum(map(of, self.checks)) for of in (
            lambda check: cells_of(check.unknown), lambda check: cells_of(check.from_json)))
        return (f"{len(checks)} tables: {equal + rounded + differ} cells compared ({json} of them without a raw log, "
                f"with the JSON of the folder or the summary), {equal} equal, {rounded} equal but for rounding, "
                f"{differ} differ; {unknown} cannot be recomputed")
