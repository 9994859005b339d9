"""The tables of published documents: Markdown, boxes of `+---+`, and columns that spaces align."""

import re


class Table:
    """A table: the file, the heading before it, its header and its rows."""

    def __init__(self, file, title, header):
        self.file, self.title, self.header, self.rows = file, title, header, []

    def column(self, name):
        """The index of a column."""
        return self.header.index(name)


def cells(line):
    """The cells of a line between bars, without the marks of bold text."""
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.replace("\\|", "|").strip().strip("*").strip() for cell in re.split(r"(?<!\\)\|", inner)]


def markdown(file):
    """The tables of a Markdown file."""
    return barred(file, lambda line: re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line.strip()), r"#+ (.*)")


def boxes(file):
    """The tables of boxes. Their title is the last line of text before them."""
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
    """The tables whose header begins with the word `first`, of lines that are indented and have no empty line
    between."""
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
    """Lines of a document as a table: the groups of each line that the pattern matches, with its heading before
    them."""
    table, heading = Table(file, title, ["under", *header]), ""
    for line in file.read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if match := re.fullmatch(pattern, line):
            table.rows.append([heading, *match.groups()])
    return table
