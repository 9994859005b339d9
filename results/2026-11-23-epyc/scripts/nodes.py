"""Start-up and memory of N nodes on a ring, in one process or in one process each, over each RMW in turn."""
import argparse, json, os, select, subprocess, time
from contestants import *

NODES = HERE + "/cpp/build/nodes"


class Member:
    def __init__(self, first, count, total, env, errors):
        self.process = subprocess.Popen([NODES, str(first), str(count), str(total)], env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=errors)
        self.text = b""

    def read(self, word, deadline):
        """The value of the next line that begins with this word; None after the deadline or at the end of the process."""
        while True:
            line, found, rest = self.text.partition(b"\n")
            if found:
                self.text = rest
                if line.split()[:1] == [word.encode()]:
                    return int((line.split() + [b"0"])[1])
                continue
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            if not data:
                return None
            self.text += data

    def ask(self, command, answer):
        try:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return None
        return self.read(answer, time.monotonic() + 20)


def run(total, each, name, round, limit, domain):
    """`each`: whether each node has a process of its own. `limit`: after these seconds the start has failed."""
    result = {"nodes": total, "processes": total if each else 1, "contestant": name, "round": round}
    roudi = RouDi(name)
    errors = open(f"{LOGS}/nodes-{total}-{'each' if each else 'one'}-{name}-{round}.txt".replace(", ", "-"), "w")
    env = environment(name, domain, processes=total if each else 1)
    shared = shared_bytes()
    start = time.monotonic()
    members = [Member(i, 1, total, env, errors) for i in range(total)] if each else [Member(0, total, total, env, errors)]
    try:
        created = [m.read("created", start + limit) for m in members]
        ready = [m.read("ready", start + limit) for m in members]
        if None in ready:
            missing = ready.count(None)
            ended = sum(m.process.poll() is not None for m in members)
            errors.flush()
            result["failed"] = f"{missing} of {len(members)} not ready in {limit} s, {ended} ended: " + open(errors.name).read()[:300]
            return result
        cpu = sum(m.ask("usage", "usage") for m in members)
        time.sleep(0.7)
        uses = [usage(m.process.pid) for m in members]
        idle = [sum(m.ask("usage", "usage") for m in members), time.monotonic()]
        time.sleep(1)
        idle = (sum(m.ask("usage", "usage") for m in members) - idle[0]) / (time.monotonic() - idle[1])
        shared = shared_bytes() - shared
        for m in members:
            m.ask("publish", "published")
        time.sleep(0.3)
        result.update({
            "created_s": max(created) / 1e9 - start, "ready_s": max(ready) / 1e9 - start, "cpu_s": cpu / 1e9, "idle_ms_per_s": idle / 1e6,
            "rss_mib": sum(u["rss"] for u in uses) / total / 2**20, "pss_mib": sum(u["pss"] for u in uses) / total / 2**20,
            "shared_kib": shared / total / 1024, "roudi_mib": roudi.usage()["rss"] / 2**20,
            "received": sum(m.ask("received", "received") for m in members),
        })
        return result
    finally:
        for m in members:
            if "failed" in result:
                m.process.kill()
            m.process.stdin.close()
        deadline = time.monotonic() + 20
        result["exit_codes"] = sorted({str(end(m.process, max(0.1, deadline - time.monotonic()))) for m in members})
        roudi.end()


def table(results):
    text = ""
    for nodes, processes in dict.fromkeys((r["nodes"], r["processes"]) for r in results):
        of_case = [r for r in results if (r["nodes"], r["processes"]) == (nodes, processes)]
        text += f"\n### {nodes} nodes in {processes} process{'es' if processes > 1 else ''}\n\n"
        text += "| | all seen and matched, s | CPU until then, s | resident memory, MiB per node | proportional | /dev/shm, KiB per node | "
        text += "idle CPU of all, ms/s | of a message each, received |\n| --- |" + " --- |" * 7 + "\n"
        for name in CONTESTANTS:
            of = [r for r in of_case if r["contestant"] == name]
            good = [r for r in of if "ready_s" in r]
            column = lambda key: span([r[key] for r in good])
            if of:
                failed = f" ({len(of) - len(good)} runs failed)" if len(good) < len(of) else ""
                text += f"| {name}{failed} | {column('ready_s')} | {column('cpu_s')} | {column('rss_mib')} | {column('pss_mib')} | "
                text += f"{column('shared_kib')} | {column('idle_ms_per_s')} | {column('received')} of {nodes} |\n"
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--one", default="1,20,100", help="numbers of nodes in one process")
    parser.add_argument("--each", default="20,100", help="numbers of nodes with a process each")
    parser.add_argument("--contestants", default="gantry;cyclonedds;fastrtps")
    parser.add_argument("--output", default="nodes")
    options = parser.parse_args()
    os.makedirs(LOGS + "/ros", exist_ok=True)
    results = []
    names = options.contestants.split(";")
    numbers = lambda text: [int(n) for n in text.split(",") if n]
    cases = [(n, False) for n in numbers(options.one)] + [(n, True) for n in numbers(options.each)]
    domain = 2
    for round in range(1, options.rounds + 1):
        for total, each in cases:
            for name in names[round % len(names):] + names[:round % len(names)]:
                domain = 2 + (domain - 1) % 38
                result = run(total, each, name, round, options.limit, domain)
                progress(str(result))
                results.append(result)
                json.dump(results, open(options.output + ".json", "w"), indent=1)
    open(options.output + ".md", "w").write(table(results))
    print(table(results))


if __name__ == "__main__":
    main()
