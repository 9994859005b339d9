"""The documents of a folder of results, and the rule of each."""

import readme
import sweep
import versus


def of_versus(ledger, folder, logs, of_readme):
    found = versus.check(ledger, folder / "versus.md", logs)
    if of_readme and folder.name == "versus-block":
        readme.check(ledger, of_readme, found)


def of_sweep(name):
    rules = {"zero-copy": sweep.zero_copy, "sizes": sweep.sizes, "types": sweep.types}
    return lambda ledger, folder, logs, _: rules[name](ledger, folder / f"{name}.md", logs)


RULES = {"versus.md": of_versus, **{f"{name}.md": of_sweep(name) for name in ("zero-copy", "sizes", "types")}}


def rules(folder):
    """The parts of a folder with tables, each with its rule."""
    for file in sorted(folder.rglob("*")):
        if file.name in RULES:
            yield file.parent, RULES[file.name]
