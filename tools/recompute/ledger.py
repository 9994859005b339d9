"""The record of all checked cells: equal, equal except for rounding, different, or impossible to recompute.

The recomputed content of a cell is a list of parts. A part is a text, or a number with the function that writes it. A
cell that no rule has checked is an error, so no cell is forgotten."""

import itertools

# The relative change of a number that `is_rounding` tries. Sums in another order differ in their last bit, so a number
# halfway between two printed numbers may be rounded either way.
NUDGE = 1e-9


def text_of(parts, nudges=itertools.repeat(0)):
    """Writes the parts as text. Each number is first increased by a fraction of itself, the next of `nudges`."""
    written, nudges = [], iter(nudges)
    for part in parts:
        if isinstance(part, tuple):
            value, show = part
            part = "-" if value is None else show(value * (1 + next(nudges)))
        written.append(part)
    return "".join(written)


def is_rounding(published, parts):
    """True if numbers that differ from these by at most NUDGE give the published text."""
    numbers = sum(isinstance(part, tuple) for part in parts)
    if not 0 < numbers <= 6:
        return False
    return any(text_of(parts, nudges) == published for nudges in itertools.product((0, -NUDGE, NUDGE), repeat=numbers))


def cells_of(by_reason):
    """The number of cells, summed over all reasons and columns."""
    return sum(sum(of_columns.values()) for of_columns in by_reason.values())


class Checked:
    """A published table and its recomputation. The first `keys` columns name the row and are not recomputed."""

    def __init__(self, ledger, table, name=None, keys=1):
        self.ledger, self.table, self.keys = ledger, table, keys
        self.name = name or table.title
        self.done, self.differ, self.unknown, self.from_json = set(), [], {}, {}
        self.equal = self.rounded = 0
        ledger.checks.append(self)

    def cell(self, row, column, *parts):
        """Compares the cell at the indices `row` and `column` with the recomputed parts."""
        self.done.add((row, column))
        published, found = self.table.rows[row][column], text_of(parts)
        if published == found:
            self.equal += 1
        elif is_rounding(published, parts):
            self.rounded += 1
        else:
            self.differ.append((row, column, published, found))

    def cells(self, row, parts_of_columns, first=None):
        """Compares the cells of a row, starting at the column `first`. Each cell has a list of parts."""
        for column, parts in enumerate(parts_of_columns, self.keys if first is None else first):
            self.cell(row, column, *([parts] if isinstance(parts, (str, tuple)) else parts))

    def cannot(self, reason, column, rows=None):
        """Counts the unchecked cells of a column as impossible to recompute."""
        for row in range(len(self.table.rows)) if rows is None else rows:
            if (row, column) not in self.done:
                self.done.add((row, column))
                of_columns = self.unknown.setdefault(reason, {})
                of_columns[column] = of_columns.get(column, 0) + 1

    def json_only(self, reason, column, rows=None):
        """Records that a column was compared with the folder's JSON, or with the summary of a log, because there are no
        raw values."""
        number = len(self.table.rows) if rows is None else len(rows)
        if number:
            self.from_json.setdefault(reason, {})[column] = number

    def lacks(self, names):
        """Records rows that are missing in the table. `names` has the first cells that the table should have."""
        for name in sorted(set(names) - {cells[0] for cells in self.table.rows}):
            self.fail(None, f"it lacks {name}, which was measured")

    def fail(self, row, sentence):
        """Records an error of a row, or of the whole table if `row` is None."""
        self.differ.append((row, None, "", sentence))

    def end(self):
        """Records the cells that no rule has checked."""
        for row, cells in enumerate(self.table.rows):
            for column in range(self.keys, len(cells)):
                if (row, column) not in self.done:
                    self.differ.append((row, column, cells[column], "(no rule has recomputed this cell)"))

    def lines(self):
        """The result of the table as lines of text."""
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
        """The names of columns, each after its number of cells."""
        return ", ".join(f"{number} of `{self.table.header[column] or 'name'}`" for column, number in of_columns.items())

    def row_name(self, row):
        """The name of a row: its first cells."""
        if row is None or row >= len(self.table.rows):
            return "the table"
        return "row " + " / ".join(self.table.rows[row][: max(1, self.keys)])


class Ledger:
    """The results for all tables of all documents."""

    def __init__(self):
        self.checks = []

    def print(self, root):
        """Prints the result of each table. Returns true if no cell differs."""
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
        """The cells that differ, each with its file. They are repeated at the end of the output, which a CI log shows
        first."""
        for check in self.checks:
            for line in check.lines():
                if "DIFFERS" in line:
                    yield f"{check.table.file}: {line.strip()}"

    def total(self):
        """The sums over all tables, as a sentence."""
        checks = [check for check in self.checks if check.table.rows]
        equal, rounded, differ = (sum(map(of, self.checks)) for of in (
            lambda check: check.equal, lambda check: check.rounded, lambda check: len(check.differ)))
        unknown, json = (sum(map(of, self.checks)) for of in (
            lambda check: cells_of(check.unknown), lambda check: cells_of(check.from_json)))
        return (f"{len(checks)} tables: {equal + rounded + differ} cells compared ({json} of them without a raw log, "
                f"with the JSON of the folder or the summary), {equal} equal, {rounded} equal but for rounding, "
                f"{differ} differ; {unknown} cannot be recomputed")
