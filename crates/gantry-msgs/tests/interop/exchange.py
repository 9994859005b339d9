"""Writes and compares the files of the two programs. The docstring of interop.py describes these files."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

import rosbags_codec
from cyclone_codec import Cyclone
from values import Style, random_value

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from definitions import Root
    from fastddsgen import FastProgram
    from idlc import Compiled
    from report import Report
    from values import Value

SMALL_BYTES = 1 << 16
"""Longer messages have no YAML. A type whose messages are all longer has only one value."""
ORDERS = {"le": True, "be": False}


@dataclass
class Exchange:
    """The directory with the messages of one root."""

    root: Root
    directory: Path
    report: Report
    compiled: Compiled | None = None
    fast_program: FastProgram | None = None

    def package_of(self, name: str) -> str:
        """Return the name of a type's package as the report shows it."""
        return f"{self.root.name}/{name.split('/')[0]}"

    def stem(self, name: str, number: object) -> str:
        """Return the common beginning of the names of one value's files."""
        return f"{name.replace('/', '__')}.{number}"

    def write(self, values: int, rng: random.Random) -> None:
        """Write random values of every type in both byte orders, and compare their bytes with the bytes of cyclonedds."""
        self.directory.mkdir(parents=True, exist_ok=True)
        codecs = [Cyclone(self.root.store), *([self.compiled] if self.compiled else [])]
        for name in self.root.messages:
            self.report.count(self.package_of(name), "types")
            least = random_value(self.root.store, name, Style.LEAST, rng)
            styles = [Style.LEAST, Style.MOST, *[Style.MIXED] * (values - 2)]
            if len(rosbags_codec.serialise(self.root.store, name, least, little_endian=True)) > SMALL_BYTES:
                styles = [Style.MIXED]
            for number, style in enumerate(styles):
                self.write_value(codecs, name, number, random_value(self.root.store, name, style, rng))

    def write_value(self, codecs: list[Cyclone], name: str, number: int, value: dict[str, Value]) -> None:
        """Write one value. Compare the bytes of rosbags with the bytes of cyclonedds and of idlc's types."""
        package, stem = self.package_of(name), self.stem(name, number)
        self.report.count(package, "values")
        for order, little_endian in ORDERS.items():
            data = rosbags_codec.serialise(self.root.store, name, value, little_endian=little_endian)
            (self.directory / f"{stem}.{order}.cdr").write_bytes(data)
            for codec in codecs:
                second = codec.serialise(name, value, little_endian=little_endian)
                self.report.same_bytes(package, f"{stem}.{order} of rosbags and of {codec.NAME}", data, second)
            if len(data) <= SMALL_BYTES:
                again = rosbags_codec.deserialise(self.root.store, name, data)
                self.report.same_value(package, f"{stem}.{order} read again", self.root.store, name, (value, again))
        if len(data) <= SMALL_BYTES:
            (self.directory / f"{stem}.yaml").write_text(
                yaml.dump(plain(value), Dumper=yaml.CSafeDumper, sort_keys=False)
            )

    def compare(self) -> None:
        """Compare Gantry's files for the values of this program. Then check the values that Gantry made."""
        for name in self.root.messages:
            for path in sorted(self.directory.glob(self.stem(name, "*.le.cdr"))):
                self.compare_value(name, path.name.removesuffix(".le.cdr"))
            own = sorted(self.directory.glob(self.stem(name, "*.rust.cdr")))
            if not own:
                self.report.differ(f"{name}: Gantry wrote no {self.stem(name, 0)}.rust.cdr")
            for path in own:
                self.check_own_value(name, path.name.removesuffix(".cdr"))
        for name in self.root.not_covered if self.compiled else ():
            self.compare_again(name)

    def compare_fast(self) -> None:
        """Compare all messages with the files that Fast CDR wrote after reading them."""
        if self.fast_program is None:
            return
        self.fast_program.run(self.directory)
        for name in (*self.root.messages, *self.root.not_covered):
            for end in ("le", "rust"):
                for path in sorted(self.directory.glob(self.stem(name, f"*.{end}.cdr"))):
                    file = f"{path.name.removesuffix('.cdr')}.fast.cdr"
                    if (found := self.found(file)) is not None:
                        self.report.same_bytes(self.package_of(name), file, path.read_bytes(), found)

    def compare_again(self, name: str) -> None:
        """Read Gantry's values with idlc's type and write them again, because rosbags does not support the type."""
        for path in sorted(self.directory.glob(self.stem(name, "*.rust.cdr"))):
            data = path.read_bytes()
            self.report.same_bytes(self.package_of(name), path.name, data, self.compiled.again(name, data))

    def compare_value(self, name: str, stem: str) -> None:
        """Compare Gantry's files for one value with the expected bytes."""
        expected = (self.directory / f"{stem}.le.cdr").read_bytes()
        for made in ("le.back", "be.back", "built"):
            if (found := self.found(f"{stem}.{made}.cdr")) is not None:
                self.compare_bytes(name, f"{stem}.{made}.cdr", expected, found)
        if len(expected) <= SMALL_BYTES:
            value = rosbags_codec.deserialise(self.root.store, name, expected)
            for order in ORDERS:
                self.compare_yaml(name, f"{stem}.{order}.yaml", value)

    def compare_bytes(self, name: str, file: str, expected: bytes, found: bytes) -> None:
        """Compare bytes. If they differ, report which fields differ."""
        package, store = self.package_of(name), self.root.store
        if self.report.same_bytes(package, file, expected, found):
            return
        with contextlib.suppress(Exception):  # unreadable bytes have no fields
            values = (rosbags_codec.deserialise(store, name, expected), rosbags_codec.deserialise(store, name, found))
            self.report.same_value(package, file, store, name, values)

    def check_own_value(self, name: str, stem: str) -> None:
        """Read a random value that Gantry made, compare it with Gantry's YAML, and write it again."""
        package = self.package_of(name)
        self.report.count(package, "values")
        data = (self.directory / f"{stem}.cdr").read_bytes()
        try:
            value = rosbags_codec.deserialise(self.root.store, name, data)
        except Exception as error:  # rosbags passes on all exceptions of numpy and struct
            self.report.differ(f"{stem}.cdr: rosbags cannot read these {len(data)} bytes: {error!r}")
            return
        again = rosbags_codec.serialise(self.root.store, name, value, little_endian=True)
        self.report.same_bytes(package, f"{stem}.cdr", again, data)
        if len(data) <= SMALL_BYTES:
            self.compare_yaml(name, f"{stem}.yaml", value)

    def compare_yaml(self, name: str, file: str, value: dict[str, Value]) -> None:
        """Compare a value with the YAML that Gantry wrote for it."""
        if (text := self.found(file)) is None:
            return
        try:
            found = yaml.load(text, Loader=yaml.CSafeLoader)
        except yaml.YAMLError as error:
            self.report.differ(f"{file} is not YAML: {' '.join(str(error).split())}")
            return
        self.report.same_value(self.package_of(name), file, self.root.store, name, (value, found))

    def found(self, file: str) -> bytes | None:
        """Read a file that another program should have written. Report it if it is missing."""
        path = self.directory / file
        if path.is_file():
            return path.read_bytes()
        self.report.differ(f"{file}: it was not written")
        return None


def plain(value: Value) -> object:
    """Replace bytes by lists of numbers, because ROS 2 prints them in this way."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | bytes):
        return [plain(each) for each in value]
    return value
