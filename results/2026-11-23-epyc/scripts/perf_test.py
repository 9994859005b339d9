"""Gantry's own perf_test with `-c rclcpp`, over each RMW in turn."""
import argparse, json, os, subprocess
from contestants import *

PERF_TEST = os.environ.get("GANTRY_PERF_TEST", "target/release/perf_test")
# name: (message, bytes, Hz, fixed)
CASES = {
    "256 B": ("Array256", 256, 1000, True),
    "4 MB": ("Array4m", 1 << 22, 30, True),
    "4 MB unsized": ("UnboundedSequence", 1 << 22, 30, False),
}


def run(case, name, round, seconds, domain):
    message, size, rate, fixed = CASES[case]
    roudi = RouDi(name, size)
    result = {"case": case, "contestant": name, "round": round}
    log = f"{LOGS}/perf_test-{case}-{name}-{round}.json".replace(", ", "-").replace(" ", "-")
    command = [PERF_TEST, "-c", "rclcpp", "-m", message, "-r", str(rate), "--reliable", "--keep-last", "--history-depth", "16",
               "--warmup", "1", "--max-runtime", str(seconds), "-o", "none", "--full-logfile", log]
    command += [] if fixed else ["--unbounded-msg-size", str(size)]
    command += ["--zero-copy"] if fixed and CONTESTANTS[name][1] else []
    try:
        before = roudi.usage()["cpu_ns"]
        done = subprocess.run(command, env=environment(name, domain, size, fixed), capture_output=True, text=True, timeout=120)
        if done.returncode or not os.path.exists(log):
            return result | {"failed": done.stderr[-300:], "exit_code": done.returncode}
        summary = json.load(open(log))["summary"]
        total, received = summary["total"], summary["total"]["received"]["samples"]
        latency = total["latency"]
        if not received:
            return result | {"failed": "nothing received"}
        return result | {
            "received": received, "lost": summary["lost"], "mean_us": latency["mean_ns"] / 1e3, "p50_us": latency["p50_ns"] / 1e3,
            "p99_us": latency["p99_ns"] / 1e3, "hz": summary["achieved_hz"],
            "cpu_us": summary["cpu_per_message_ns"] / 1e3 + (roudi.usage()["cpu_ns"] - before) / 1e3 / (rate * (seconds + 1)),
            "peak_mib": sum(w["memory"]["peak_rss_kib"] for w in summary["workers"]) / 1024,
        }
    finally:
        roudi.end()


def table(results):
    text = ""
    for case, (message, _, rate, _) in CASES.items():
        of_case = [r for r in results if r["case"] == case]
        if not of_case:
            continue
        text += f"\n### perf_test -c rclcpp, {case}: {message} at {rate} Hz\n\n| | mean latency, µs | p50 | p99 | CPU, µs per message | peak memory, MiB | lost |\n| --- |" + " --- |" * 6 + "\n"
        for name in CONTESTANTS:
            of = [r for r in of_case if r["contestant"] == name]
            good = [r for r in of if "mean_us" in r]
            column = lambda key: [r[key] for r in good]
            if of:
                failed = f", {len(of) - len(good)} runs failed" if len(good) < len(of) else ""
                text += f"| {name} | {span(column('mean_us'))} | {span(column('p50_us'))} | {span(column('p99_us'))} | {span(column('cpu_us'))} | {span(column('peak_mib'))} | "
                text += f"{sum(column('lost')):.0f} of {sum(column('lost')) + sum(column('received')):,.0f}{failed} |\n"
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--contestants", default=";".join(CONTESTANTS))
    parser.add_argument("--output", default="perf_test")
    options = parser.parse_args()
    os.makedirs(LOGS + "/ros", exist_ok=True)
    results = []
    domain = 40
    names = options.contestants.split(";")
    for round in range(1, options.rounds + 1):
        for case in options.cases.split(","):
            for name in names[round % len(names):] + names[:round % len(names)]:
                domain = 40 + (domain - 39) % 50
                result = run(case, name, round, options.seconds, domain)
                progress(str(result))
                results.append(result)
                json.dump(results, open(options.output + ".json", "w"), indent=1)
    open(options.output + ".md", "w").write(table(results))
    print(table(results))


if __name__ == "__main__":
    main()
