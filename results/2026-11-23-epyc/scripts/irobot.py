"""iRobot's ros2-performance: a topology of nodes in one process, without intra-process communication, over each RMW in turn."""
import argparse, json, os, shutil, subprocess, time
from contestants import *

PREFIX = os.environ.get("IROBOT", "/opt/ros2-performance")
BENCHMARK = PREFIX + "/lib/irobot_benchmark/irobot_benchmark"


def lines(file):
    """The rows of a log whose columns are separated by spaces: name of the column -> value."""
    with open(file) as f:
        table = [line.split() for line in f if line.strip()]
    return [dict(zip(table[0], map(float, line))) for line in table[1:]]


def run(topology, name, round, seconds, domain):
    result = {"topology": topology, "contestant": name, "round": round}
    folder = f"{LOGS}/{topology}-{name}-{round}".replace(", ", "-")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    env = environment(name, domain, 16384)
    env["LD_LIBRARY_PATH"] = PREFIX + "/lib:" + env["LD_LIBRARY_PATH"]
    env["AMENT_PREFIX_PATH"] = PREFIX + ":" + env["AMENT_PREFIX_PATH"]
    roudi = RouDi(name)
    shared = shared_bytes()
    try:
        with open(folder + "/output.txt", "w") as output:
            process = subprocess.Popen([BENCHMARK, f"{PREFIX}/lib/irobot_benchmark/topology/{topology}.json", "-t", str(seconds), "--ipc", "off"],
                                       cwd=folder, env=env, stdout=output, stderr=subprocess.STDOUT)
        time.sleep(seconds / 2)
        try:
            use = usage(process.pid)
        except (OSError, KeyError):
            use = {}
        shared = shared_bytes() - shared
        deadline = time.monotonic() + seconds + 20
        pid = 0
        while not pid and time.monotonic() < deadline:
            pid, status, rusage = os.wait4(process.pid, os.WNOHANG)
            time.sleep(0.05)
        if not pid:
            process.kill()
            return result | {"failed": "did not end"}
        process.returncode = os.waitstatus_to_exitcode(status)
        try:
            total = lines(f"{folder}/{topology}_log/latency_total.txt")[0]
        except (OSError, IndexError):
            return result | {"exit_code": process.returncode, "failed": open(folder + "/output.txt").read()[-300:]}
        return result | {
            "exit_code": process.returncode, "received": total["received_msgs"], "mean_us": total["mean_us"], "late": total["late_msgs"],
            "too_late": total["too_late_msgs"], "lost": total["lost_msgs"],
            "cpu_s": rusage.ru_utime + rusage.ru_stime, "roudi_cpu_s": roudi.usage()["cpu_ns"] / 1e9, "peak_mib": rusage.ru_maxrss / 1024,
            "pss_mib": use.get("pss", 0) / 2**20, "roudi_peak_mib": roudi.usage()["peak"] / 2**20, "shared_mib": shared / 2**20,
        }
    finally:
        roudi.end()


def table(results):
    text = ""
    for topology in dict.fromkeys(r["topology"] for r in results):
        text += f"\n### {topology}\n\n| | messages | mean latency, µs | late | too late | lost | CPU, s | peak memory, MiB | RouDi, MiB |\n| --- |" + " --- |" * 8 + "\n"
        for name in CONTESTANTS:
            of = [r for r in results if r["topology"] == topology and r["contestant"] == name]
            good = [r for r in of if "mean_us" in r]
            column = lambda key: [r[key] for r in good]
            if not of:
                continue
            failed = f", {len(of) - len(good)} runs failed" if len(good) < len(of) else ""
            text += f"| {name} | {span(column('received'))}{failed} | {span(column('mean_us'))} | {span(column('late'))} | {span(column('too_late'))} | "
            text += f"{span(column('lost'))} | {span([r['cpu_s'] + r['roudi_cpu_s'] for r in good])} | {span(column('peak_mib'))} | "
            text += (span(column('roudi_peak_mib')) if CONTESTANTS[name][2] else "") + " |\n"
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--topologies", default="sierra_nevada,mont_blanc")
    parser.add_argument("--contestants", default=";".join(CONTESTANTS))
    parser.add_argument("--output", default="irobot")
    options = parser.parse_args()
    os.makedirs(LOGS + "/ros", exist_ok=True)
    results = []
    names = options.contestants.split(";")
    for round in range(1, options.rounds + 1):
        for topology in options.topologies.split(","):
            for i, name in enumerate(names[round % len(names):] + names[:round % len(names)]):
                result = run(topology, name, round, options.seconds, 91 + i)
                progress(str(result))
                results.append(result)
                json.dump(results, open(options.output + ".json", "w"), indent=1)
    open(options.output + ".md", "w").write(table(results))
    print(table(results))


if __name__ == "__main__":
    main()
