"""Assigns a rule to each document of a folder of results. A rule recomputes the tables of its document; a table without
a rule is an error."""

import matrix
import middlewares
import robots
import micro
import ros
import scale
import sweep
import versus
from ledger import Checked
from tables import boxes, markdown

# The tables that contain only words, by their first headings.
OF_WORDS = {
    ("folder", "command"), ("folder", "what"), ("name", "settings"), ("case", "rmw_gantry"), ("program", "what it does"),
}


def of_versus(ledger, folder, logs, front_page):
    rule = middlewares if middlewares.is_one(markdown(folder / "versus.md")) else versus
    found = rule.check(ledger, folder / "versus.md", logs)
    if front_page:
        front_page.quote(ledger, folder, found)


def of_sweep(name):
    """The rule for a sweep. Tables since 2026-11-24 have a row for each run; earlier tables have another form."""
    earlier = {"zero-copy": sweep.zero_copy, "sizes": sweep.sizes, "types": sweep.types}

    def rule(ledger, folder, logs, _):
        file = folder / f"{name}.md"
        tables = markdown(file)
        of_runs = [table for table in tables if matrix.is_one(table)]
        for table in of_runs:
            matrix.check(ledger, table, logs, sweep.Footnotes(file).of)
        if of_runs or name not in earlier:
            refuse_others(ledger, [table for table in tables if table not in of_runs])
        else:
            earlier[name](ledger, file, logs)

    return rule


def of_scale(ledger, folder, logs, _):
    scale.check_text(ledger, folder / "scale.txt")


def of_peers(ledger, folder, logs, _):
    for table in markdown(folder / "peers.md"):
        check = Checked(ledger, table)
        for column in range(1, len(table.header)):
            check.cannot("the output of both sides is not published", column)


def of_suites(ledger, folder, logs, _):
    file = folder / "suites.md"
    tables = markdown(file)
    ros.suites(ledger, tables, file)
    refuse_others(ledger, [table for table in tables if table.title != "All programs" and table.header[0] != "suite"])


def of_micro(name):
    return lambda ledger, folder, logs, _: micro.check_text(ledger, folder / f"micro-{name}.txt", name)


def of_robot(name):
    return lambda ledger, folder, logs, _: robots.check_text(ledger, folder / name, logs)


def of_readme(ledger, folder, logs, _):
    """The rule for the README of a folder. The kind of each table follows from its header."""
    file, others, best = folder / "README.md", [], {}
    if (folder / "micro-memory.json").exists():
        return micro.check_readme(ledger, file)
    programs = ros.Folder(folder, logs) if (folder / "apex.json").exists() else None
    for table in markdown(file):
        if "executor" not in table.header[0] and table.header[1] == "late" and logs:
            robots.check_readme(ledger, table, logs)
        elif table.header[0] == "nodes":
            scale.check_readme(ledger, table, folder)
        elif programs and table.title.startswith("perf_test -c rclcpp, "):
            ros.perf_test(ledger, table, programs)
        elif programs and "RouDi" in table.header:
            ros.apex(ledger, table, programs, best)
        elif programs and "RouDi, MiB" in table.header:
            ros.irobot(ledger, table, programs)
        elif programs and table.header[1] == "all seen and matched, s":
            ros.nodes(ledger, table, programs)
        else:
            others.append(table)
    if programs:
        ros.ratios(ledger, file, best)
    refuse_others(ledger, others)


def refuse_others(ledger, tables):
    """Reports each table that has no rule; tables that contain only words need none."""
    for table in tables:
        is_list_of_versions = table.header == ["", ""]
        if not is_list_of_versions and tuple(table.header[:2]) not in OF_WORDS:
            check = Checked(ledger, table)
            check.fail(None, "no rule: add one to tools/recompute/documents.py, or its headings to OF_WORDS")
            for column in range(len(table.header)):
                check.cannot("no rule", column)


def rule_of(file):
    """Returns the rule for a file; None if the file is no document with tables."""
    known = {
        "versus.md": of_versus, "scale.txt": of_scale, "peers.md": of_peers, "suites.md": of_suites, "README.md": of_readme,
        **{f"{name}.md": of_sweep(name) for name in ("zero-copy", "sizes", "types", "matrix")},
        **{f"micro-{name}.txt": of_micro(name) for name in ("memory", "throughput", "latency", "recovery")},
    }
    if file.name in known:
        return known[file.name]
    if file.suffix == ".txt" and file.with_name("logs.tar.xz").exists() and file.name != "commands.txt":
        return of_robot(file.name)
    if file.suffix == ".md" or file.suffix == ".txt" and boxes(file):
        return lambda ledger, *_: refuse_others(ledger, markdown(file) + boxes(file))
    return None


def rules(folder):
    """Yields the documents of a folder and its subfolders, each as its folder and its rule. A rule is a function of the
    ledger, the folder, its unpacked logs, and the FrontPage that may quote the document (or None)."""
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix in (".md", ".txt") and (rule := rule_of(file)):
            yield file.parent, rule
