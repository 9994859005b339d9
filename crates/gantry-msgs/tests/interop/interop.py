"""Compares Gantry's messages with rosbags and Cyclone DDS: bytes, values and hashes of every type that they support.

    python interop.py --self-check DIRECTORY          rosbags and Cyclone DDS only
    python interop.py DIRECTORY PROGRAM [ARGUMENT...]  these two and Gantry

DIRECTORY is emptied first. PROGRAM is the test program `every` of this crate. It is run twice, each time with the name
of a test as one more argument, and with DIRECTORY in the environment variable INTEROP_DIRECTORY:

The test `interop::types` writes `types.json` in UTF-8. It lists the types of the roots `packages` and `packages-1.x` of
this crate:

    {"messages": [{"root": "packages", "name": "std_msgs/msg/Bool", "hash": "RIHS01_…", "definition": "bool data\\n"}],
     "services": [{"root": "packages", "name": "std_srvs/srv/SetBool", "hash": "RIHS01_…"}]}

The file lists every message, including messages with wide strings and the `…_Request` and `…_Response` of services
(namespace `srv`). `definition` has the "ros2msg" format: the text of the message, and then, for each message nested in
it at any depth, a line of 80 `=`, a line `MSG: package/Name`, and its text. The test also writes `packages.idl` and
`packages-1.x.idl`, which have all messages of a root in OMG IDL. Cyclone DDS's `idlc` and Fast DDS's `fastddsgen`
compile these files, and messages of the compiled types must have the same bytes.

Then the test `interop::exchange` is run. Before this, interop.py has written files to `DIRECTORY/<root>/` for each
message type, except for the types that it prints as not covered. TYPE is `package__msg__Name` for `package/msg/Name`,
and K = 0, 1, …:

    TYPE.K.le.cdr  TYPE.K.be.cdr   one value, little and big endian, with the four bytes of encapsulation header
    TYPE.K.yaml                    the same value, readable; not for messages longer than 64 KiB (65536 bytes of CDR)

The test writes these files next to them:

    TYPE.K.le.back.cdr             typed: le.cdr → view → owned → serialised, little endian
    TYPE.K.be.back.cdr             typed: be.cdr → view or owned → serialised, little endian
    TYPE.K.built.cdr               typed: a message built in place with the values of le.cdr
    TYPE.K.le.yaml  TYPE.K.be.yaml the dynamic view of le.cdr and be.cdr, not for messages longer than 64 KiB
    TYPE.K.rust.cdr                at least one random value of its own, little endian, K its own count
    TYPE.K.rust.yaml               that value, not for messages longer than 64 KiB

All `.cdr` files must be equal byte for byte: padding is zero, and no byte follows the last field. YAML is compared by
its values: one mapping of the fields in their order, or `{}` for a message without fields (the placeholder on the wire
is not printed). uint8 and char are numbers from 0 to 255. A byte is such a number or, as `ros2 topic echo` prints it, a
text of one character. Sequences of these are lists. Infinite and undefined floats are `.nan`, `.inf` and `-.inf`;
floats must be equal to the bit (also -0.0). Texts are always read as texts (`"1.0"`, `"yes"`, control characters in
quotes).

The last line of the output is `interop: T types, V values, B bytes-equal, …, D different`. The exit status is 1 if D is
not 0.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

from rosbags.typesys import Stores, get_typestore

import fastddsgen
from definitions import Root, different_lines, parse, read_root, register
from exchange import Exchange
from fastddsgen import FastProgram
from idlc import Compiled, find_idlc
from report import Report

PACKAGES = Path(__file__).parents[2]
ROOTS = ("packages", "packages-1.x")
PUBLISHED = {
    # The source of these two hashes is docs/design.md of ros2/rmw_zenoh.
    "std_msgs/msg/String": "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
    "example_interfaces/srv/AddTwoInts": "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a",
}
"""Hashes that ROS 2 computed, which check the use of rosbags."""


def main() -> int:
    """Run the comparison, print the report, and return the exit status."""
    arguments = parse_arguments()
    seed = secrets.randbelow(1 << 32) if arguments.seed is None else arguments.seed
    print(f"interop: --seed {seed} --values {arguments.values}")
    shutil.rmtree(arguments.directory, ignore_errors=True)
    arguments.directory.mkdir(parents=True)

    report, rng = Report(), random.Random(seed)
    roots = [read_root(PACKAGES / name) for name in ROOTS]
    exchanges = [Exchange(root, arguments.directory / root.name, report) for root in roots]
    check_roots(roots, report)
    if not arguments.self_check:
        run_test(arguments, "interop::types")
        compile_idl(exchanges, arguments.directory)
    for exchange in exchanges:
        exchange.write(arguments.values, rng)
    if not arguments.self_check:
        run_test(arguments, "interop::exchange")
        check_types(roots, json.loads((arguments.directory / "types.json").read_text()), report)
        for exchange in exchanges:
            exchange.compare_fast()
            exchange.compare()
    for root in roots:
        for name, reason in root.not_covered.items():
            print(f"NOT COVERED: {root.name}/{name}: {reason}")
    print("NOT COVERED: event messages of services, except in the services' hashes")
    if arguments.self_check:
        print("NOT COVERED: Gantry: this run compares only rosbags and cyclonedds")
    return 0 if report.print() else 1


def run_test(arguments: argparse.Namespace, name: str) -> None:
    """Run one of Gantry's two tests. Exit if it fails or does not exist."""
    environment = os.environ | {"INTEROP_DIRECTORY": str(arguments.directory.resolve())}
    command = [*arguments.program, "--ignored", "--exact", name]
    test = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if test.returncode != 0 or "1 passed" not in test.stdout:
        sys.exit(f"{test.stdout}\nthe test {name} did not pass")


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-check", action="store_true", help="compare only rosbags and cyclonedds")
    parser.add_argument("--values", type=int, default=8, help="number of values of each type (default 8)")
    parser.add_argument("--seed", type=int, help="use the same random values as a run that printed this seed")
    parser.add_argument("directory", type=Path, help="directory for the exchanged files; it is emptied first")
    parser.add_argument("program", nargs=argparse.REMAINDER, help="Gantry's program and its first arguments")
    arguments = parser.parse_args()
    if arguments.self_check == bool(arguments.program):
        parser.error("give either --self-check or a program")
    return arguments


def compile_idl(exchanges: list[Exchange], directory: Path) -> None:
    """Compile Gantry's IDL of each root with the compilers that run on this machine."""
    idlc = find_idlc(directory)
    if idlc is None:
        print("NOT COVERED: idlc: that of the package cyclonedds does not run here")
    if missing := fastddsgen.missing():
        print(f"NOT COVERED: fastddsgen: not here: {missing}")
    for exchange in exchanges:
        root, idl = exchange.root, directory / f"{exchange.root.name}.idl"
        if idlc is not None:
            exchange.compiled = Compiled(root.store, idlc, idl, directory / "python")
        if not missing:
            exchange.fast_program = FastProgram(root, idl, directory / "fastddsgen" / root.name)


def check_roots(roots: list[Root], report: Report) -> None:
    """Check Gantry's definitions against rosbags' definitions, and rosbags' hashes against published hashes."""
    for root in roots:
        for sentence in root.disagreements:
            report.differ(f"{root.name}/{sentence}")
    for name, expected in PUBLISHED.items():
        found = roots[0].hash_of_service(name) if "/srv/" in name else roots[0].hash_of(name)
        report.same_text(
            f"{ROOTS[0]}/{name.split('/')[0]}", f"published hash of {name}", expected, found, "hashes-equal"
        )


def check_types(roots: list[Root], types: dict[str, list[dict[str, str]]], report: Report) -> None:
    """Check that Gantry's list of types is complete, and check its hashes and definitions."""
    for root in roots:
        found = {each["name"]: each for each in types["messages"] if each["root"] == root.name}
        services = {each["name"]: each for each in types["services"] if each["root"] == root.name}
        for name in sorted({*root.messages, *root.not_covered, *root.services} ^ (found.keys() | services.keys())):
            report.differ(f"{root.name}/{name} is only in {'types.json' if name in found | services else 'the folder'}")
        for name in root.messages:
            if name in found:
                check_message(root, found[name], report)
        for name in root.services:
            # rosbags cannot compute the hash of a service with wide strings.
            if name in services and f"{name}_Request" in root.messages and f"{name}_Response" in root.messages:
                package, hash_found = f"{root.name}/{name.split('/')[0]}", services[name]["hash"]
                report.same_text(package, f"hash of {name}", root.hash_of_service(name), hash_found, "hashes-equal")


def check_message(root: Root, found: dict[str, str], report: Report) -> None:
    """Check Gantry's hash and definition of a message."""
    name = found["name"]
    report.same_text(
        f"{root.name}/{name.split('/')[0]}", f"hash of {name}", root.hash_of(name), found["hash"], "hashes-equal"
    )
    try:
        store = get_typestore(Stores.EMPTY)
        register(store, parse(name, found["definition"]))
        store.get_msgdef(name)
    except Exception as error:  # any error in the text
        report.differ(f"definition of {name}: rosbags cannot use it: {error!r}")
        return
    for each in store.fielddefs:
        for expected, written in different_lines(root.store, store, each):
            report.differ(f"definition of {name}: of {each}, expected `{expected}`, found `{written}`")


if __name__ == "__main__":
    sys.exit(main())
