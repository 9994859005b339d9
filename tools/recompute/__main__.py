"""Recomputes published tables from raw logs. It shares no code with the program that wrote the tables."""

import argparse
import gc
import pathlib
import sys
import tarfile
import tempfile
import time
import traceback

# Python writes no .pyc files here, because this folder is part of the repository.
sys.dont_write_bytecode = True

import documents
from ledger import Ledger
from readme import FrontPage

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A log is a large tree of lists without cycles, and the garbage collector would traverse it again and again.
gc.disable()
HELP = """\
Recomputes every cell of the tables in FOLDER (all folders of results/ and the table of README.md without one) from the
raw logs in logs.tar.xz, by code of its own, and compares it with the printed cell to its last digit. It prints for each
table the cells that are equal, equal but for rounding, different, and not to be recomputed, with the reason. Sentences
under a table are compared, too, where they have ratios, knees, copies or numbers of warnings; other text is not.

"CPU/message" of builds before 2026-11-25 is the CPU time of the measured seconds by the messages received within them,
as in the published tables: a middleware that receives a backlog after them has up to 23 % more than by all messages.

exit code: 0 all cells agree, 1 a cell differs or a table has no rule, 2 wrong usage"""


def unpack(archive, into):
    """Unpacks logs. Refuses names of files outside the folder."""
    with tarfile.open(archive) as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        for member in tar:
            parts = pathlib.PurePosixPath(member.name).parts
            if member.name.startswith("/") or ".." in parts or not (member.isfile() or member.isdir()):
                raise ValueError(f"{archive}: {member.name} is neither a file nor a folder within it: pack it again")
            tar.extract(member, into)
    return into


def main():
    parser = argparse.ArgumentParser(
        prog="python3 tools/recompute", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=pathlib.Path, help="a folder of results/, or a part of one")
    folders = parser.parse_args().folders
    for folder in folders:
        if not folder.is_dir():
            parser.error(f"{folder} is not a folder: give a folder with results, as results/2026-11-22-epyc")
        if not any(documents.rules(folder)):
            parser.error(f"{folder} has no document with tables: give a folder with results, as results/2026-11-22-epyc")
    start, ledger, failures = time.monotonic(), Ledger(), []
    front_page = FrontPage(ROOT / "README.md") if not folders else None
    folders = [folder.resolve() for folder in folders] or sorted(path for path in (ROOT / "results").iterdir() if path.is_dir())
    with tempfile.TemporaryDirectory() as into:
        unpacked = {}
        for folder in folders:
            for part, rule in documents.rules(folder):
                try:
                    archive = part / "logs.tar.xz"
                    if archive.exists() and part not in unpacked:
                        unpacked[part] = unpack(archive, pathlib.Path(into) / str(len(unpacked)))
                    rule(ledger, part, unpacked.get(part), front_page)
                except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError, tarfile.TarError):
                    failures.append(f"{part}:\n{traceback.format_exc()}")
    if front_page and not failures:
        front_page.end()
    agree = ledger.print(ROOT)
    for line in [*ledger.differences(), *(f"FAILED {failure}" for failure in failures)]:
        print(line)
    print(f"{ledger.total()}; {time.monotonic() - start:.1f} s")
    return 0 if agree and not failures and ledger.checks else 1


if __name__ == "__main__":
    sys.exit(main())
