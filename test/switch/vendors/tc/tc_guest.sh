#!/bin/bash
# Runs in the guest of test/rig/guest for test_tc_guest.py: sets up a switch with a shaped port, applies
# dlcp-switch's script and sends marked packets of every class. It only records: the results of every step are
# files in OUT that have the step's name.
#
#   tc_guest.sh SOURCE BUILD OUT
set -u
source=$1 build=$2 out=$3
cd "$out" || exit 1
traffic=$build/bin/marked_traffic
script=$out/rendered/sw1/dlcp-qos.sh
send_ns=s2  # host 2, whose DSCPs are trusted
step_start=$(cut -d' ' -f1 /proc/uptime)

step() { # NAME: prints the duration of the previous step
  local now
  now=$(cut -d' ' -f1 /proc/uptime)
  echo "$(awk "BEGIN {print $now - $step_start}") s; $1"
  step_start=$now
}
at_switch() { ip netns exec ssw "$@"; }
run() { # NAME COMMAND...: output and status
  "${@:2}" >"$1.txt" 2>&1
  echo $? >"$1.status"
}
queues() { at_switch tc qdisc show | sed -E 's/ refcnt [0-9]+//' >"$1.queues"; }
counters() { at_switch tc -s -j qdisc show >"$1.json"; }
# With this burst, a machine that stops for about 20 ms keeps the rate.
shape() { at_switch tc qdisc change dev p1 root handle 5: tbf rate "$1" burst "${2:-30000}" limit 300000; }
drained() {
  local try shown
  for try in $(seq 100); do
    shown=$(at_switch tc -s qdisc show dev p1)
    [[ $shown == *"backlog "[1-9]* ]] || return
    sleep 0.2
  done
  echo "not drained after $try looks" >&2
}
listen() {
  ip netns exec s1 "$traffic" receive 5000 >"$1.received" &
  receiver=$!
  sleep 0.3
}
heard() {
  sleep 0.3
  kill "$receiver"
  wait "$receiver"
}
traffic() { # NAME ADDRESS SECONDS FLOW...: sent, received and counters afterwards
  listen "$1"
  ip netns exec "$send_ns" "$traffic" send "$2" 5000 1500 "${@:3}" >"$1.sent"
  sleep 0.5 # packets that the kernel has not forwarded yet are in no queue
  drained
  counters "$1"
  heard
}

modprobe -a veth bridge dummy sch_tbf sch_ets sch_red sch_gred sch_ingress cls_flower act_skbedit act_pedit act_csum
"$source/scripts/netns" up s 3 mtu=1500 offload=off fifo=0 || exit 1
at_switch ip link set p1 txqueuelen 100 # also of the site's queue
at_switch tc qdisc add dev p1 root handle 5: tbf rate 10mbit burst 30000 limit 300000
at_switch tc qdisc show >running.txt
queues original
"$build/bin/dlcp-switch" render guest.yaml -o rendered >render.txt 2>&1 || { cat render.txt >&2; exit 1; }
"$build/bin/dlcp-switch" plan guest.yaml --json >plan.json
step "network and script"

shape 5mbit
run apply_drifted at_switch bash "$script" apply
shape 10mbit
queues untouched
mkdir -p broken # with a tc that fails in the middle of batch $FAILS
cat >broken/tc <<END
#!/bin/bash
if [ "\$1" = -batch ]; then
  echo >>$out/broken/batches
  if [ "\$(wc -l <$out/broken/batches)" = "\$FAILS" ]; then
    head -n 8 | /sbin/tc -batch -
    exit 1
  fi
fi
exec /sbin/tc "\$@"
END
chmod +x broken/tc
broken() { # FAILS SCRIPT
  rm -f broken/batches
  at_switch env FAILS="$1" PATH="$out/broken:$PATH" bash "$2" apply
}
run apply_broken broken 1 "$script"
queues taken_back
run apply at_switch bash "$script" apply
queues applied
sed 's/exact: 30%/exact: 20%/' guest.yaml >other.yaml # another plan in the place of this one
"$build/bin/dlcp-switch" render other.yaml -o other >other.txt 2>&1 || { cat other.txt >&2; exit 1; }
run replace_broken broken 2 "$out/other/sw1/dlcp-qos.sh"
queues replace_taken_back
run replace at_switch bash "$out/other/sw1/dlcp-qos.sh" apply
queues replaced
run replace_again at_switch bash "$script" apply
queues applied_back
at_switch tc filter show dev p1 egress >applied.filters
step "apply"

traffic marks4 10.77.0.2 0 control:0xa2:x3 exact:0x4a:x3 urgent-protected:0x52:x3 urgent-droppable:0x58:x3 \
  bulk-protected:0x2a:x3 bulk-middle:0x30:x3 bulk-droppable:0x38:x3 other:0x20:x3
traffic marks6 fd77::2 0 control:0xa2:x3 exact:0x4a:x3 urgent-protected:0x52:x3 urgent-droppable:0x58:x3 \
  bulk-protected:0x2a:x3 bulk-middle:0x30:x3 bulk-droppable:0x38:x3 other:0x20:x3
send_ns=s0
for family in 4 6; do
  address=10.77.0.2
  [ $family = 4 ] || address=fd77::2
  traffic "tenant$family" "$address" 0 control:0xa2:x3 exact:0x4b:x3 urgent-protected:0x52:x3 \
    urgent-droppable:0x58:x3 bulk-protected:0x2a:x3 bulk-middle:0x30:x3 bulk-droppable:0x38:x3 other:0x22:x3
done
send_ns=s2
step "classes"

# Sends one class after the other to a port that forwards almost nothing: the queue length at which marks or
# drops begin is the depth.
for flow in exact:0x4a urgent-protected:0x52 urgent-droppable:0x58 bulk-protected:0x2a bulk-middle:0x30 \
  bulk-droppable:0x38; do
  counters "before_${flow%:*}"
  shape 8kbit 3000
  listen ignored
  ip netns exec s2 "$traffic" send 10.77.0.2 5000 1500 0 "$flow:x90" >"depth_${flow%:*}.sent"
  counters "depth_${flow%:*}"
  if [ "${flow%:*}" = bulk-middle ]; then # the queue has now the maximum depth of the middle level
    ip netns exec s2 "$traffic" send 10.77.0.2 5000 1500 0 bulk-droppable:0x38:x5 bulk-middle:0x30:x5 bulk-protected:0x2a:x5 >order.sent
    counters order
  fi
  shape 1gbit
  drained
  heard
done
run drifted_apply at_switch bash "$script" apply
run drifted_rollback at_switch bash "$script" rollback
shape 10mbit
step "depths"

run apply_again at_switch bash "$script" apply
queues applied_again
counters apply_again

# Sends more than its share to every weighted queue, in two attempts.
for attempt in 1 2; do
  counters "mix${attempt}_before"
  traffic "mix$attempt" 10.77.0.2 5 control:0xa2:40 exact:0x4a:450 urgent-protected:0x52:225 \
    urgent-droppable:0x58:225 bulk-protected:0x2a:150 bulk-middle:0x30:100 bulk-droppable:0x38:100 other:0x20:350
done
step "shares"

# The load of senders that respond to marks: only droppable packets may be dropped.
run reapply_rollback at_switch bash "$script" rollback
queues rolled_back
run reapply at_switch bash "$script" apply
traffic calm 10.77.0.2 3 control:0xa2:40 exact:0x4a:80 urgent-protected:0x52:80 urgent-droppable:0x58:500 \
  bulk-protected:0x2a:40 bulk-droppable:0x38:500 other:0x20:80
# A sender marks everything as control: it gets only the rate limit of that queue.
traffic greedy 10.77.0.2 0 control:0xa2:x200 exact:0x4a:x75
# As a rollback leaves p1 that ended after it had removed the queues: the token bucket forwards nothing.
rm /var/lib/dlcp-switch/sw1/p1.after
at_switch tc qdisc del dev p1 clsact
at_switch tc qdisc del dev p1 parent 5:1
run rollback at_switch bash "$script" rollback
queues rolled_back
run rollback_again at_switch bash "$script" rollback
ls /var/lib/dlcp-switch/* >state.txt 2>/dev/null
traffic afterwards 10.77.0.2 0 exact:0x4a:x20
step "rollback"

# Scripts for faster and larger switches, one port of each kind: the kernel must accept their numbers.
golden() { # NAME FABRIC PORT...: of the fabric's leaf4, unpacked into OUT/golden by test_tc_guest.py
  local name=golden-$1 script=$out/golden/$2/dlcp-qos.sh port
  ip netns add "$name"
  for port in "${@:3}"; do ip -n "$name" link add "$port" up type dummy; done
  ip netns exec "$name" tc qdisc show >"$name.original"
  run "$name-apply" ip netns exec "$name" bash "$script" apply "${@:3}"
  run "$name-rollback" ip netns exec "$name" bash "$script" rollback "${@:3}"
  ip netns exec "$name" tc qdisc show >"$name.rolled_back"
}
golden fast mixed eth1 eth3
golden shallow shallow eth1 eth3
step "golden files"
