"""Apex.AI's performance_test, a publisher and a subscriber in two processes, over each RMW in turn."""
import argparse, json, os, subprocess, time
from contestants import *

PERF_TEST = ROS + "/lib/performance_test/perf_test"
UNBOUNDED = os.environ.get("PERF_TEST_UNBOUNDED", HERE + "/apex/lib/performance_test/perf_test")
POINTS = HERE + "/cpp/build/points"
# name: (message, bytes, Hz)
CASES = {
    "256 B": ("Array256", 256, 1000),
    "1 KB": ("Array1k", 1024, 1000),
    "1 MB": ("Array1m", 1 << 20, 100),
    "2 MB": ("Array2m", 1 << 21, 30),
    "4 MB": ("Array4m", 1 << 22, 30),
    "8 MB": ("Array8m", 1 << 23, 30),
    "4 MB unsized": ("UnboundedSequence", 1 << 22, 30),
    "PointCloud2 4 MB": ("PointCloud2", 1 << 22, 30),
}


def rows(file):
    """The rows of a CSV log: name of the column -> value."""
    text = open(file).read().split("---EXPERIMENT-START---")
    lines = [[c.strip() for c in line.split(",")] for line in (text[1] if len(text) > 1 else "").strip().split("\n")]
    return [dict(zip(lines[0], map(float, line))) for line in lines[1:] if len(line) >= len(lines[0])]


def steady(all_rows, count):
    """The first row that is not measured, and those of full seconds after it: the row of the start, and of the second of the first
    sample, are left out."""
    first = next((i for i, row in enumerate(all_rows) if row["T_experiment"] > 0.5 and row[count] > 0), len(all_rows))
    return all_rows[first:first + 1], all_rows[first + 1:]


def cpu_us(part, count):
    """CPU time of a process per message, in µs."""
    used = sum(part[1][-1][c] - part[0][0][c] for c in ("ru_utime", "ru_stime"))
    return used * 1e6 / sum(row[count] for row in part[1])


def perf_test(case, name, round, seconds, domain):
    message, size, rate = CASES[case]
    fixed = message != "UnboundedSequence"
    env = environment(name, domain, size, fixed)
    program = PERF_TEST if fixed else UNBOUNDED
    if not fixed:
        env["LD_LIBRARY_PATH"] = os.path.dirname(os.path.dirname(program)) + ":" + env["LD_LIBRARY_PATH"]
        env["AMENT_PREFIX_PATH"] = HERE + "/apex:" + env["AMENT_PREFIX_PATH"]
    command = [program, "-c", "rclcpp-single-threaded-executor", "-m", message, "-r", str(rate), "--reliability", "RELIABLE",
               "--history", "KEEP_LAST", "--history-depth", "16", "--max-runtime", str(seconds)]
    if not fixed:
        command += ["--unbounded-msg-size", str(size)]
    loaned = ["--loaned-samples"] if CONTESTANTS[name][1] and fixed else []
    stem = f"{LOGS}/{case} {name} {round}".replace(" ", "-").replace(",", "")
    start = lambda what, *more: subprocess.Popen(command + ["-l", f"{stem}-{what}.csv", *more], env=env,
                                                 stdout=open(f"{stem}-{what}.out", "w"), stderr=subprocess.STDOUT)
    shared = shared_bytes()
    subscriber = start("sub", "-p", "0", "-s", "1")
    publisher = start("pub", "-p", "1", "-s", "0", *loaned)
    return message, publisher, subscriber, shared, stem


def run(case, name, round, seconds, domain):
    message, size, rate = CASES[case]
    roudi = RouDi(name, size)
    result = {"case": case, "contestant": name, "round": round}
    try:
        if message == "PointCloud2":
            return result | points(case, name, round, seconds, domain, roudi)
        message, publisher, subscriber, shared, stem = perf_test(case, name, round, seconds, domain)
        time.sleep(seconds / 2)
        before = roudi.usage()
        time.sleep(seconds / 2 - 0.6)
        try:
            uses = [usage(publisher.pid), usage(subscriber.pid), roudi.usage()]
        except (OSError, KeyError):
            uses = []
        shared = shared_bytes() - shared
        codes = [end(publisher), end(subscriber)]
        result["exit_codes"] = codes
        sub, pub = steady(rows(stem + "-sub.csv"), "received"), steady(rows(stem + "-pub.csv"), "sent")
        received = sum(row["received"] for row in sub[1])
        if not received or not pub[1] or not uses:
            return result | {"failed": open(stem + "-sub.out").read()[-300:] + open(stem + "-pub.out").read()[-300:]}
        roudi_cpu = (uses[2]["cpu_ns"] - before["cpu_ns"]) / (seconds / 2 - 0.6) / rate
        mean = sum(row["latency_mean (ms)"] * row["received"] for row in sub[1]) / received
        return result | {
            "mean_us": mean * 1000,
            "min_us": min(row["latency_min (ms)"] for row in sub[1]) * 1000,
            "max_us": max(row["latency_max (ms)"] for row in sub[1]) * 1000,
            "received": received, "seconds": len(sub[1]), "lost": sum(row["lost"] for row in sub[1]),
            "sent_per_s": sum(row["sent"] for row in pub[1]) / len(pub[1]),
            "cpu_us": cpu_us(pub, "sent") + cpu_us(sub, "received") + roudi_cpu / 1000,
            "peak_mib": [u["peak"] / 2**20 for u in uses], "pss_mib": sum(u["pss"] for u in uses) / 2**20,
            "shared_mib": shared / 2**20,
        }
    finally:
        roudi.end()


def points(case, name, round, seconds, domain, roudi):
    """sensor_msgs/PointCloud2 by a small program, as performance_test has no message with parts of any size but bytes."""
    _, size, rate = CASES[case]
    env = environment(name, domain, size, fixed=False)
    stem = f"{LOGS}/{case} {name} {round}".replace(" ", "-").replace(",", "")
    shared = shared_bytes()
    start = lambda what: subprocess.Popen([POINTS, what, str(size), str(rate), str(seconds)], env=env,
                                          stdout=open(f"{stem}-{what}.json", "w"), stderr=open(f"{stem}-{what}.out", "w"))
    subscriber, publisher = start("sub"), start("pub")
    time.sleep(seconds / 2)
    before = roudi.usage()
    time.sleep(seconds / 2 - 0.6)
    try:
        uses = [usage(publisher.pid), usage(subscriber.pid), roudi.usage()]
    except (OSError, KeyError):
        uses = []
    shared = shared_bytes() - shared
    codes = [end(publisher), end(subscriber)]
    try:
        sub, pub = json.load(open(stem + "-sub.json")), json.load(open(stem + "-pub.json"))
    except ValueError:
        sub = pub = {}
    if not sub.get("received") or not uses:
        return {"exit_codes": codes, "failed": open(stem + "-sub.out").read()[-300:] + open(stem + "-pub.out").read()[-300:]}
    roudi_cpu = (uses[2]["cpu_ns"] - before["cpu_ns"]) / (seconds / 2 - 0.6) / rate
    return sub | {
        "exit_codes": codes,
        "sent_per_s": pub["sent"] / pub["seconds"],
        "cpu_us": (pub["cpu_ns"] / pub["sent"] + sub["cpu_ns"] / sub["received"] + roudi_cpu) / 1000,
        "peak_mib": [u["peak"] / 2**20 for u in uses], "pss_mib": sum(u["pss"] for u in uses) / 2**20,
        "shared_mib": shared / 2**20,
    }


def table(results):
    """Markdown: for each case, median (least–largest) of the rounds, and Gantry's best beside the best of the others."""
    text = ""
    for case in CASES:
        of_case = [r for r in results if r["case"] == case]
        if not of_case:
            continue
        percentiles = any("p99_us" in r for r in of_case)
        message, _, rate = CASES[case]
        text += f"\n### {case}: {message} at {rate} Hz\n\n| | mean latency, µs |{' p50 | p99 |' if percentiles else ''} CPU, µs per message | "
        text += "lost | peak memory, MiB: publisher | subscriber | RouDi | proportional, all |\n| --- |" + " --- |" * (9 if percentiles else 7) + "\n"
        best = {}
        for name in CONTESTANTS:
            good = [r for r in of_case if r["contestant"] == name and "mean_us" in r]
            bad = [r for r in of_case if r["contestant"] == name and "failed" in r]
            if not good and not bad:
                continue
            column = lambda key: [r[key] for r in good]
            peak = lambda i: span([r["peak_mib"][i] for r in good])
            ours = name.startswith("gantry")
            for key in ("mean_us", "cpu_us"):
                if good:
                    best.setdefault((ours, key), {})[name] = {r["round"]: r[key] for r in good}
            text += f"| {name} | {span(column('mean_us'))} |"
            if percentiles:
                text += f" {span(column('p50_us'))} | {span(column('p99_us'))} |"
            lost, received = sum(column("lost")), sum(column("received"))
            roudi = peak(2) if CONTESTANTS[name][2] else ""
            text += f" {span(column('cpu_us'))} | {lost:.0f} of {received + lost:,.0f}{f', {len(bad)} runs failed' if bad else ''} |"
            text += f" {peak(0)} | {peak(1)} | {roudi} | {span(column('pss_mib'))} |\n"
        for key, what in (("mean_us", "latency"), ("cpu_us", "CPU time")):
            text += ratio(best, key, what)
    return text


def ratio(best, key, what):
    """Gantry's best contestant divided by the best of the others, in each round."""
    if not best.get((True, key)) or not best.get((False, key)):
        return ""
    pick = lambda ours: min(best[ours, key].items(), key=lambda item: median(item[1].values()))
    (our_name, our), (name, other) = pick(True), pick(False)
    ratios = [our[r] / other[r] for r in our if r in other]
    return f"\n{what[0].upper() + what[1:]}: {our_name} takes {span(ratios, 2)} × that of the best other, {name}.\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--first-round", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--contestants", default=";".join(CONTESTANTS))
    parser.add_argument("--output", default="apex")
    options = parser.parse_args()
    os.makedirs(LOGS + "/ros", exist_ok=True)
    file = options.output + ".json"
    results = json.load(open(file)) if os.path.exists(file) else []
    domain = 40
    for round in range(options.first_round, options.first_round + options.rounds):
        for case in options.cases.split(","):
            names = options.contestants.split(";")
            for name in names[round % len(names):] + names[:round % len(names)]:
                domain = 40 + (domain - 39) % 50
                result = run(case, name, round, options.seconds, domain)
                progress(f"{round} {case} {name}: " + (f"{result['mean_us']:.1f} µs, CPU {result['cpu_us']:.1f} µs, lost {result['lost']:.0f}"
                         f" of {result['received']:.0f}, PSS {result['pss_mib']:.0f} MiB" if "mean_us" in result else str(result)))
                results.append(result)
                json.dump(results, open(file, "w"), indent=1)
    open(options.output + ".md", "w").write(table(results))
    print(table(results))


if __name__ == "__main__":
    main()
