#!/bin/bash
# A measurement, not a test: a full mesh of processes on one Soft-RoCE device, where each sends to every other one
# packets that the card places. Runs in the guest of test/rig/guest, and prints a line per sample: seconds since the
# start, queue pairs of the device, memory of the largest process and memory that the guest has left, both in MiB, and
# packets sent. The end is the report of dlcp bench.
#
#   test/rig/guest --roce 1 --memory 16000 --timeout 1800 -- bash test/rig/roce/roce_mesh.sh BUILD RANKS SECONDS [SETTING=VALUE...]
set -u
build=$1 ranks=$2 seconds=$3
shift 3
export DLCP_DATAPATH=verbs DLCP_ROCE_PLACEMENT=on DLCP_COMPRESS=off DLCP_PEER_TIMEOUT=300
# shellcheck disable=SC2163  # each argument is NAME=VALUE
(($# == 0)) || export "$@"
ulimit -n 65536
now() { cut -d' ' -f1 /proc/uptime; }
largest() { # of the processes of bench: resident MiB
  awk '/^Name:/ {name = $2} /^VmRSS/ && name == "dlcp" && $2 > most {most = $2} END {print int(most / 1024)}' \
    /proc/[0-9]*/status 2>/dev/null
}
left() { awk '/^MemAvailable/ {print int($2 / 1024)}' /proc/meminfo; }
queue_pairs() { rdma resource show | sed -n 's/.* qp \([0-9]*\).*/\1/p'; }
packets() { cat /sys/class/infiniband/rxe1/ports/1/hw_counters/sent_pkts; }
start=$(now)
echo "before: $(queue_pairs) queue pairs, $(left) MiB left"
"$build/bin/dlcp" bench --plugin "$build/lib/libnccl-net-dlcp.so" --idle sleep --mode alltoall --ranks "$ranks" \
  --size 64K --inflight 1 --seconds "$seconds" --warmup 0 --timeout 600 --json >/tmp/mesh.json 2>/tmp/mesh.log &
bench=$!
while kill -0 $bench 2>/dev/null; do
  echo "$(awk "BEGIN {printf \"%.1f\", $(now) - $start}") s: $(queue_pairs) queue pairs, largest process $(largest) MiB," \
    "$(left) MiB left, $(packets) packets sent"
  sleep 5
done
wait $bench
echo "status $?, $(awk "BEGIN {printf \"%.1f\", $(now) - $start}") s"
tail -3 /tmp/mesh.log
cat /tmp/mesh.json
