#!/usr/bin/env bash
# Runs sierra_nevada and mont_blanc for 60 s in each executor of Gantry and over Cyclone DDS, under iRobot's targets.
# usage: scripts/measure.sh FOLDER, from the project's root after `cargo build --release` and `tools/contestants cyclonedds`
set -euo pipefail
folder=$1 perf_test=target/release/perf_test
mkdir -p "$folder"
run() {
    local name=$1 status=0
    shift
    "$perf_test" topology "$@" -t 60 --full-logfile "$folder/$name.json" > "$folder/$name.txt" 2>&1 || status=$?
    # 3: the run was measured, and does not meet its target.
    case $status in 0 | 3) ;; *) exit "$status" ;; esac
}
for topology in sierra_nevada mont_blanc; do
    for executor in single multi events isolated; do
        run "$topology-gantry-$executor" "$topology" -c Gantry -x "$executor" --target "$topology"
    done
    run "$topology-cyclonedds" "$topology" -c cyclonedds --target "$topology"
done
