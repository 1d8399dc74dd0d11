#!/bin/bash
# Runs in the guest of test/rig/guest for scripts/soak --roce: a ring of hosts with a Soft-RoCE device each
# (guest_roce.sh), whose cards place the data, over a switch with faults. Prints the report of dlcp bench.
#
#   roce_leg.sh BUILD on|rc RANKS SIZE SECONDS SEED NETEM-ARGUMENT...
set -u
build=$1 placement=$2 ranks=$3 size=$4 seconds=$5 seed=$6
shift 6
modprobe sch_netem
for ((port = 1; port <= ranks; port++)); do
  ip netns exec sw tc qdisc add dev p$port root netem limit 20000 "$@" || exit 2
done
export DLCP_DATAPATH=verbs DLCP_ROCE_PLACEMENT=$placement DLCP_COMPRESS=off
exec "$build/bin/dlcp" bench --plugin "$build/lib/libnccl-net-dlcp.so" --device-by-rank --idle yield --mode ring \
  --ranks "$ranks" --size "$size" --seconds "$seconds" --seed "$seed" --canary --json
