"""The tables of `perf_test micro`. The figures come from the folder's JSON, because there are no logs of single
messages."""

import json
import re

from ledger import Checked
from figures import count, fixed, thousands
from tables import boxes, markdown, sentences

NO_LOGS = "perf_test micro writes no logs of single messages"
PUBLISHED = "micro-ROS published this figure; it was not measured here"
BOARD_BYTES = 4
STREAMS = ("serial", "usb", "tcp")


def number(value):
    """Writes a number, with commas from 10,000 on; None as `-`."""
    return "-" if value is None else (value, lambda value: f"{value:,.0f}" if value >= 9999.5 else f"{value:.0f}")


def optional(value, show):
    return "-" if value is None else (value, show)


class Memory:
    """The programs whose memory was measured, from the JSON file."""

    def __init__(self, found):
        self.programs = [program for program in found["programs"] if program["has_session"]]

    def all(self, publishers=0, subscriptions=0, services=0, clients=0, **others):
        wanted = {"publishers": publishers, "subscriptions": subscriptions, "services": services, "clients": clients,
                  "history": 4, "subscription_depth": 4, "is_reliable": True, "has_one_topic": False, **others}
        return [program for program in self.programs if all(program[key] == value for key, value in wanted.items())]

    def of_row(self, heading, name):
        """The program of a row. `heading` is the heading of the first column, `name` the first cell."""
        one = {"publishers": 1, "subscriptions": 1}
        if heading in ("publishers", "subscriptions", "services", "clients"):
            return self.all(**{heading: int(name)})[0]
        if heading == "history of the session":
            return self.all(**one, history=int(name))[0]
        if heading == "reliability":
            return self.all(**one, is_reliable=name == "reliable")[0]
        if heading == "size of the message":
            # The JSON does not contain the names of the messages; its programs have this order.
            order = ["Int32"] + [f"String, {letters} letters" for letters in (10, 100, 200, 400)]
            return self.all(**one)[order.index(name)]
        if heading == "number of topics":
            kind = name.split()[1].rstrip(",")
            return self.all(**{kind: 10}, has_one_topic=name.endswith("one topic"))[0]
        raise ValueError(f"micro-memory.txt: no rule for a table of `{heading}`: add it to tools/recompute/micro.py")

    def total(self, program):
        return static(program) + program["stack_bytes"] + program["heap_bytes"]

    def one_more(self, kind):
        """The static memory of one more entity, which is a tenth of the difference between ten and none; and the stacks
        with 1, 5 and 10."""
        slope = (static(self.all(**{kind: 10})[0]) - static(self.all()[0])) / 10
        stacks = [self.all(**{kind: n})[0]["stack_bytes"] for n in (1, 5, 10)]
        return slope, stacks

    def costs(self):
        """The table `one more`: for each kind, the static bytes of one more, and the stacks of the programs."""
        one = {"publishers": 1, "subscriptions": 1}
        histories = [self.all(**one, history=n)[0] for n in range(1, 11)]
        deep, flat = self.all(**one, subscription_depth=8)[0], self.all(**one)[0]
        return {
            **{kind: self.one_more(f"{kind}s") for kind in ("publisher", "subscription", "service", "client")},
            "slot": ((static(histories[-1]) - static(histories[0])) / 9, [of["stack_bytes"] for of in histories]),
            "place": ((static(deep) - static(flat)) / 4, [deep["stack_bytes"], flat["stack_bytes"]]),
        }

    def figures(self):
        flat = self.all(publishers=1, subscriptions=1)[0]
        costs = {name: slope for name, (slope, _) in self.costs().items()}
        return {
            "publisher-bytes": costs["publisher"], "subscription-bytes": costs["subscription"],
            "subscription-without-queue-bytes": costs["subscription"] - 4 * costs["place"], "service-bytes": costs["service"],
            "client-bytes": costs["client"], "history-slot-bytes": costs["slot"], "queue-place-bytes": costs["place"],
            "text-bytes": flat["text_bytes"], "static-bytes": static(flat), "stack-bytes": flat["stack_bytes"],
            "heap-bytes": flat["heap_bytes"],
        }


def static(program):
    """The bytes of static variables, without the board's own."""
    return program["data_bytes"] + program["bss_bytes"] - BOARD_BYTES


def memory_table(check, memory):
    table = check.table
    for row, (name, *_) in enumerate(table.rows):
        if table.header[0] == "one more":
            slope, stacks = memory.costs()[re.split(r"[ ,]", name)[0]]
            published = table.rows[row][4]
            part = "-" if published == "-" else (100 * slope / int(published.replace(",", "")), fixed(0, " %"))
            of_all = str(min(stacks)) if min(stacks) == max(stacks) else f"{min(stacks)} to {max(stacks)}"
            check.cells(row, [number(slope), "0", number(slope)])
            check.cell(row, 5, *([part] if isinstance(part, tuple) else [part]))
            check.cell(row, 6, of_all)
        else:
            program = memory.of_row(table.header[0], name)
            check.cells(row, [number(program["text_bytes"]), number(static(program)), number(program["stack_bytes"]),
                              number(program["heap_bytes"]), number(memory.total(program))])


def throughput_cells(of):
    hundred = lambda value: None if value is None else 100 * value
    limit = of["limit_bytes_per_s"]
    text = of["received_per_s"] * of["payload_bytes"]
    return [
        (of["received_per_s"], fixed(1)), (text, count), (of["sent_per_s"], fixed(1)), str(of["lost"]),
        optional(hundred(of["line_utilisation"]), fixed(1)), optional(of["texts_per_message"], fixed(2)),
        optional(hundred(of["overhead"]), fixed(1)), optional(limit, count), optional(limit and 100 * text / limit, fixed(1)),
    ]


def throughput_table(check, found):
    rows = {(of["transport"], str(of["payload_bytes"])): of for of in found["rows"]}
    for row, (transport, size, *_) in enumerate(check.table.rows):
        if (transport, size) in rows:
            check.cells(row, [size, *throughput_cells(rows[transport, size])])
        elif not transport.endswith("published only"):
            check.fail(row, "the folder's JSON has no such run")
    is_stream = check.table.title.startswith("Stream")
    check.lacks(transport for transport, _ in rows if (transport in STREAMS) == is_stream)


def millis(ns):
    return (ns / 1e6, fixed(3))


def latency_table(check, found):
    rows = {of["transport"]: of for of in found["rows"]}
    for row, (transport, second, *_) in enumerate(check.table.rows):
        if transport.endswith("published only"):
            continue
        of = rows[transport]
        if check.table.header[1] == "n":
            middle = [millis(of[key]["p50_ns"]) for key in ("client_publish", "agent_publish", "round_trip")]
            check.cells(row, [str(of["n"]), *middle])
        else:
            series = of[second.replace(" ", "_")]
            check.cell(row, 1, second)
            check.cells(row, [millis(series[key]) for key in ("min_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns")], 2)
    check.lacks(rows)


def recovery_table(check, found):
    lost, outcomes = found["lost_frame"], {of["scenario"]: of for of in found["outcomes"]}
    keys = {"none": "round_trip_ms", "from the board": "from_board_ms", "to the board": "to_board_ms", "p90 of both": "p90_ms",
            "the worst of all": "max_ms"}
    check.lacks(keys if check.table.header[0] == "lost frame" else outcomes)
    for row, (name, *_) in enumerate(check.table.rows):
        if name in keys:
            value = lost[keys[name]]
            check.cells(row, [(value, fixed(2)), ((value - lost["round_trip_ms"]) / lost["round_trip_ms"], fixed(2))])
        else:
            of = outcomes[name]
            counts = ("published", "received", "not_connected", "full", "lost", "forgotten", "lost_in_silence", "duplicates",
                      "reordered")
            check.cells(row, [
                *(str(of[key]) for key in counts), (of["longest_gap_ms"], count), optional(of["time_to_data_ms"], count),
                [(of["delay_median_ms"], fixed(1)), " / ", (of["delay_max_ms"], fixed(1))]])


def quoted(name, found):
    """The values of the lines `figure NAME VALUE`, by their names."""
    if name == "memory":
        return {key: (value, count) for key, value in Memory(found).figures().items()}
    if name == "latency":
        keys = {"rtt": "round_trip", "client-publish": "client_publish", "agent-publish": "agent_publish",
                "true-client-publish": "true_client_publish", "true-agent-publish": "true_agent_publish",
                "clock-error": "clock_error"}
        return {f"{of['transport']}-{short}-ms": millis(of[key]["p50_ns"]) for of in found["rows"] for short, key in keys.items()}
    if name == "throughput":
        values = {}
        for of in found["rows"]:
            key, text = f"{of['transport']}-{of['payload_bytes']}", of["received_per_s"] * of["payload_bytes"]
            values[f"{key}-bytes-per-second"] = (text, count)
            if of["limit_bytes_per_s"]:
                values[f"{key}-percent-of-limit"] = (100 * text / of["limit_bytes_per_s"], fixed(2))
        return values
    lost = found["lost_frame"]
    values = {"lost-frame-round-trips": ((lost["from_board_ms"] - lost["round_trip_ms"]) / lost["round_trip_ms"], fixed(2))}
    for of in found["outcomes"]:
        values[f"{of['scenario']}-lost-in-silence"] = str(of["lost_in_silence"])
        values[f"{of['scenario']}-longest-gap-ms"] = (of["longest_gap_ms"], count)
        values[f"{of['scenario']}-time-to-data-ms"] = optional(of["time_to_data_ms"], count)
    return values


def check_text(ledger, file, name):
    """Checks the tables and the `figure` lines of one experiment."""
    found = json.loads(file.with_suffix(".json").read_text())
    subject = Memory(found) if name == "memory" else found
    rules = {"memory": memory_table, "throughput": throughput_table, "latency": latency_table, "recovery": recovery_table}
    for table in boxes(file):
        check = Checked(ledger, table, name=f"{table.header[0]}: {table.title}")
        rules[name](check, subject)
        only = [row for row, cells in enumerate(table.rows) if cells[0].endswith("published only")]
        of_published = next((at for at, head in enumerate(table.header) if head.startswith("published")), len(table.header))
        quotes = [of_published, of_published + 1, of_published + 2] if name == "latency" else [of_published]
        for column in range(1, len(table.header)):
            if only or column in quotes:
                check.cannot(PUBLISHED, column, None if column in quotes else only)
            if column not in quotes:
                check.json_only(NO_LOGS, column, [row for row in range(len(table.rows)) if row not in only])
    table = sentences(file, r"figure (\S+) (\S+)", "lines `figure`", ["name", "value"])
    check, values = Checked(ledger, table, keys=2), quoted(name, found)
    for row, (_, figure, _) in enumerate(table.rows):
        value = values.get(figure, "(the folder's JSON has no such figure)")
        check.cell(row, 2, value)
    check.json_only(NO_LOGS, 2)


def check_readme(ledger, file):
    """Checks the table of the README, whose cells have words between the figures."""
    read = lambda name: json.loads((file.parent / f"micro-{name}.json").read_text())
    memory, rows = Memory(read("memory")), {(of["transport"], of["payload_bytes"]): of for of in read("throughput")["rows"]}
    trips = {of["transport"]: millis_two(of["round_trip"]["p50_ns"]) for of in read("latency")["rows"]}
    costs = {name: (slope, count) for name, (slope, _) in memory.costs().items()}
    figures, flat = memory.figures(), memory.all(publishers=1, subscriptions=1)[0]
    queue = (figures["subscription-without-queue-bytes"], count)
    serial, can = (throughput_cells(rows[key]) for key in (("serial", 400), ("can-fd-no-brs", 40)))
    total = lambda **kinds: (memory.total(memory.all(**kinds)[0]), thousands())
    text = lambda cells: (cells[1][0], thousands())
    wanted = [
        [costs["publisher"], ", ", queue, " + ", costs["place"], " for each `Int32` in its queue"],
        [costs["service"], ", ", costs["client"]],
        [total(publishers=10), ", ", total(subscriptions=10)],
        [(figures["history-slot-bytes"], thousands())],
        [(flat["text_bytes"], thousands()), ", ", (flat["stack_bytes"], thousands())],
        [text(serial), " (", serial[-1], " % of the line's limit)"],
        [trips["serial"], f" (median of {read('latency')['rows'][0]['n']:,})"],
        [text(can), "; ", trips["can-fd-no-brs"]],
    ]
    table = markdown(file)[0]
    check = Checked(ledger, table)
    for row, parts in enumerate(wanted):
        check.cell(row, 1, *parts)
    check.cannot(PUBLISHED, 2)
    check.json_only(NO_LOGS, 1)


def millis_two(ns):
    return (ns / 1e6, fixed(2))
