"""Reads the tables of published documents: Markdown, boxes with lines such as `+---+`, and space-aligned columns."""

import re


class Table:
    """A table of a document: the file, the heading before the table, its header and its rows."""

    def __init__(self, file, title, header):
        self.file, self.title, self.header, self.rows = file, title, header, []

    def column(self, name):
        """The index of the column with this heading."""
        return self.header.index(name)


def cells(line):
    """The cells of a line between bars, without the asterisks of bold text."""
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.replace("\\|", "|").strip().strip("*").strip() for cell in re.split(r"(?<!\\)\|", inner)]


def markdown(file):
    """The tables of a Markdown file."""
    return barred(file, lambda line: re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line.strip()), r"#+ (.*)")


def boxes(file):
    """The boxed tables of a file. The title of a table is the last line of text before it."""
    return barred(file, lambda line: line.startswith("+-"), r"([^|+].*)")


def barred(file, is_rule, title_pattern):
    found, title, table = [], "", None
    for line in file.read_text().splitlines():
        if is_rule(line):
            continue
        if line.startswith("|"):
            if table is None:
                table = Table(file, title, cells(line))
                found.append(table)
            else:
                table.rows.append(cells(line))
            continue
        table = None
        if match := re.match(title_pattern, line):
            title = match[1]
    return found


def aligned(file, first):
    """The space-aligned tables whose header begins with the word `first`. Their lines are indented; an empty line ends
    a table."""
    found, table = [], None
    for line in file.read_text().splitlines():
        words = re.split(r"\s{2,}", line.strip())
        if words[0] == first and len(words) > 2:
            table = Table(file, words[1], words)
            found.append(table)
        elif table and line.startswith("  ") and len(words) == len(table.header):
            table.rows.append(words)
        else:
            table = None
    return found


def sentences(file, pattern, title, header):
    """The lines of a document that match `pattern`, as a table. A row has the heading before the line and the groups of
    the match."""
    table, heading = Table(file, title, ["under", *header]), ""
    for line in file.read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if match := re.fullmatch(pattern, line):
            table.rows.append([heading, *match.groups()])
    return table
