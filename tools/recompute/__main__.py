"""Recomputes published tables from raw logs, apart from the code that wrote them."""

import argparse
import pathlib
import sys
import tarfile
import tempfile
import time
import traceback

from ledger import Ledger
import documents

ROOT = pathlib.Path(__file__).resolve().parents[2]
HELP = """\
Recomputes every cell of the tables in FOLDER (all folders of results/ and the table of README.md without one) from the raw
logs in logs.tar.xz, by code of its own, and compares it with the printed cell to its last digit. It prints for each table
the cells that are equal, equal but for rounding, different, and not to be recomputed, with the reason.

exit code: 0 all cells agree, 1 a cell differs or a table has no rule, 2 wrong usage"""


def unpack(archive, into):
    """Unpacks logs; names that leave the folder are refused."""
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = pathlib.PurePosixPath(member.name).parts
            if member.name.startswith("/") or ".." in parts or not (member.isfile() or member.isdir()):
                raise ValueError(f"{archive}: {member.name} is neither a file nor a folder within it: pack it again")
            tar.extract(member, into)
    return into


def main():
    parser = argparse.ArgumentParser(
        prog="tools/recompute", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=pathlib.Path, help="a folder of results/, or a part of one")
    folders = parser.parse_args().folders
    for folder in folders:
        if not folder.is_dir():
            parser.error(f"{folder} is no folder: give a folder with results, as results/2026-11-22-epyc")
    start, ledger, failures = time.monotonic(), Ledger(), []
    of_readme = ROOT / "README.md" if not folders else None
    folders = [folder.resolve() for folder in folders] or sorted(path for path in (ROOT / "results").iterdir() if path.is_dir())
    for folder in folders:
        for part, rule in documents.rules(folder):
            with tempfile.TemporaryDirectory() as into:
                try:
                    archive = part / "logs.tar.xz"
                    logs = unpack(archive, pathlib.Path(into)) if archive.exists() else None
                    rule(ledger, part, logs, of_readme)
                except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, tarfile.TarError) as error:
                    failures.append(f"{part}: {type(error).__name__}: {error}\n{traceback.format_exc()}")
    agree = ledger.print(ROOT)
    print(f"{ledger.total()}; {time.monotonic() - start:.1f} s")
    for failure in failures:
        print(f"FAILED {failure}")
    return 0 if agree and not failures and ledger.checks else 1


if __name__ == "__main__":
    sys.exit(main())
