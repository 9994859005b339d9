#!/bin/bash
# All measurements, the most important first; folder: where the results and logs go.
. "${ROS_ENVIRONMENT:-/opt/ros/jazzy/setup.bash}"
export here=$(dirname "$(realpath "$0")")
cd "$1"; export LOGS=$PWD/logs
step() { echo "== $(date -u +%H:%M:%S) $*"; timeout 600 python3 "$here/$@"; }
step apex.py --rounds 3 --seconds 5 --cases "1 KB,256 B,1 MB,8 MB,PointCloud2 4 MB"
step nodes.py --rounds 3 --limit 20 --each 20
step nodes.py --rounds 1 --one "" --each 100 --limit 40 --output nodes-100
step irobot.py --rounds 3 --seconds 8 --topologies sierra_nevada
step perf_test.py --rounds 1
echo "== $(date -u +%H:%M:%S) done"
