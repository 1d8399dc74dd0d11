#!/bin/bash
# Runs in the guest of test/rig/guest for test_roce_guest.py: hosts with a Soft-RoCE device each (guest_roce.sh)
# run `dlcp bench` through the plugin over verbs, while their switch loses, reorders, marks and schedules packets, and
# while links, processes and devices fail. It judges nothing: the results of every step are files in OUT, named after
# the step.
#
#   roce_guest.sh BUILD OUT short|long|STEP...
#
# A step CARRIER_CASE sends its data by one of three carriers: ud (UD, with copies), or uc and rc (packets that the
# receiver's card places, over UC or RC). Cases that are missing for a carrier:
#   overload  uc, rc: roce_traffic does not place packets. The switch sees only DSCP and ECN, which the captures of
#             `clean` show for each carrier
#   tags      rc: messages that may lose data are not placed over RC. uc: only in `long`
#   weighted  rc: only in `long`; the marks are set as for uc
#   doubled   ud: no card writes late packets; the core drops duplicates, which its own tests cover
# shellcheck disable=SC2317  # the cases are called by name
set -u
build=$1 out=$2
shift 2
short='chosen placed speed mixed
  ud_clean ud_lossy ud_marked ud_weighted ud_overload ud_tags ud_flap ud_killed ud_down ud_removed
  uc_clean uc_lossy uc_doubled uc_marked uc_weighted uc_flap uc_killed uc_down uc_removed
  rc_clean rc_lossy rc_doubled rc_marked rc_flap rc_killed rc_down rc_removed'
case $* in
  short) steps=$short ;;
  long) steps="$short uc_tags rc_weighted" ;;
  *) steps=$* ;;
esac
step_start=$(cut -d' ' -f1 /proc/uptime)
export DLCP_DATAPATH=verbs NCCL_DEBUG=INFO
mkdir /tmp/out
cd /tmp/out || exit 1 # in memory; files go to OUT at the end of each step

over() { # CARRIER
  carrier=$1 messages=(--size 64K) ring=(--mode ring --ranks 4 --size 256K)
  unset DLCP_ROCE_PLACEMENT DLCP_COMPRESS
  [[ $carrier != ud ]] || return
  export DLCP_ROCE_PLACEMENT=on DLCP_COMPRESS=off # compressed messages are copied
  messages=(--size 256K) ring=(--mode ring --ranks 4 --size 1M)
  [[ $carrier = rc ]] || return
  # Over RC nothing is placed while round trips are long: little is in flight.
  export DLCP_ROCE_PLACEMENT=rc
  messages=(--size 128K --inflight 2)
}
step() { # NAME: prints how long the step took
  local now
  now=$(cut -d' ' -f1 /proc/uptime)
  echo "$(awk "BEGIN {print $now - $step_start}") s; $1"
  cp -r . "$out/"
  step_start=$now
}
at_switch() { ip netns exec sw "$@"; }
counters() { at_switch tc -s -j qdisc show dev p2 >"$1.tc"; }
# Rank i is host i+1 with device rxe(i+1).
begin() { # NAME BENCH-ARGUMENT...
  "$build/bin/dlcp" bench --plugin "$build/lib/libnccl-net-dlcp.so" --device-by-rank --idle yield --json "${@:2}" \
    >"$1.json" 2>"$1.log" &
  bench=$!
}
await() { # NAME: records its status, and the time since `since`
  wait "$bench"
  echo $? >"$1.status"
  awk "{print \$1 - ${since:-0}}" /proc/uptime >"$1.took"
}
bench() {
  begin "$@"
  await "$1"
}
under_way() { # waits until the ranks send, judged by the switch's counters
  local before try
  before=$(at_switch cat /sys/class/net/p1/statistics/tx_packets)
  for try in $(seq 300); do
    (($(at_switch cat /sys/class/net/p1/statistics/tx_packets) < before + 300)) || break
    sleep 0.1
  done
  ((try < 300)) || echo "no packets pass the switch"
  since=$(cut -d' ' -f1 /proc/uptime)
}
# Host 2's port is slower than host 1's sending rate.
slow_red() { # RATE [MIN MAX [PROBABILITY]]
  at_switch tc qdisc add dev p2 root handle 1: tbf rate "$1" burst 40000 limit 4000000
  at_switch tc qdisc add dev p2 parent 1:1 handle 2: red limit 1000000 min "${2:-30000}" max "${3:-90000}" \
    avpkt 4200 burst 10 bandwidth "$1" probability "${4:-0.1}" ecn
}

# Ranks with different settings: NAME SETTINGS-OF-RANK-0 SETTINGS-OF-RANK-1 BENCH-ARGUMENT...
pair() {
  local rank pids=()
  for rank in 0 1; do
    # shellcheck disable=SC2046  # several settings
    env $([[ $rank = 0 ]] && echo "$2" || echo "$3") "$build/bin/dlcp" bench --plugin "$build/lib/libnccl-net-dlcp.so" \
      --rank $rank --world 2 --rendezvous 127.0.0.1:4900 --idle yield --json "${@:4}" >"$1.$rank.json" 2>"$1.$rank.log" &
    pids+=($!)
  done
  wait "${pids[0]}"
  echo $? >"$1.status"
  wait "${pids[1]}"
  mv "$1.0.json" "$1.json"
  cat "$1.0.log" "$1.1.log" >"$1.log"
}

case_chosen() {
  few=(--mode bw --size 64K --iterations 50)
  (
    unset DLCP_DATAPATH
    "$build/bin/dlcp" doctor >doctor.txt 2>&1
    pair chosen_auto "DLCP_HCA==rxe1" "DLCP_HCA==rxe2" "${few[@]}"
    pair chosen_mixed "DLCP_HCA==rxe1" "DLCP_DATAPATH=udp DLCP_IFNAME==r2" "${few[@]}"
    pair chosen_mixed_back "DLCP_DATAPATH=udp DLCP_IFNAME==r1" "DLCP_HCA==rxe2" "${few[@]}"
    # A firewall that passes UDP but not RoCE, which is UDP to port 4791.
    for port in 1 2; do
      at_switch tc qdisc add dev p$port clsact
      at_switch tc filter add dev p$port ingress protocol ip flower ip_proto udp dst_port 4791 action drop
    done
    pair chosen_blocked "DLCP_HCA==rxe1" "DLCP_HCA==rxe2" "${few[@]}"
    for port in 1 2; do at_switch tc qdisc del dev p$port clsact; done
    pair chosen_strict "DLCP_DATAPATH=verbs DLCP_HCA==rxe1" "DLCP_DATAPATH=udp DLCP_IFNAME==r2" "${few[@]}"
  )
}

case_placed() {
  placed() { # NAME RULE NETEM-ARGUMENT...
    local port # towards host 1 pass only the acknowledgements of reliable queue pairs
    (($# < 3)) || for port in 1 2; do at_switch tc qdisc add dev p$port root netem limit 20000 "${@:3}"; done
    # shellcheck disable=SC2086  # nothing, or one argument
    timeout 60 "$build/bin/roce_placement" rxe1 rxe2 4 "$2" ${reliable-} >"placed_$1.json" 2>"placed_$1.log"
    (($# < 3)) || for port in 1 2; do at_switch tc qdisc del dev p$port root; done
  }
  placed clean revoke
  placed loss revoke loss 1%
  placed late revoke loss 1% delay 100ms reorder 95%
  placed doubled revoke duplicate 5% delay 100ms reorder 95%
  reliable=rc
  placed rc_clean revoke
  placed rc_loss revoke loss 1%
  placed rc_late revoke loss 1% delay 100ms reorder 95%
  placed rc_doubled revoke duplicate 5% delay 100ms reorder 95%
  unset reliable
  placed unsafe none duplicate 5% delay 100ms reorder 95%
  "$build/bin/dlcp" doctor >placed_doctor.txt 2>&1
}

case_mixed() { # the other end does not place data
  over uc
  pair mixed "DLCP_HCA==rxe1" "DLCP_HCA==rxe2 DLCP_ROCE_PLACEMENT=off" --mode bw --size 256K --iterations 20
}

case_clean() {
  capture() { # NAME TCPDUMP-ARGUMENT...
    # Not through at_switch, because tcpdump must be killed, not a shell around it.
    ip netns exec sw tcpdump -i p1 -w "$1.pcap" -U --immediate-mode "${@:2}" 2>/dev/null &
    capture=$!
    sleep 1
  }
  captured() {
    kill "$capture" 2>/dev/null
    wait "$capture"
  }
  capture "${carrier}_clean_bw" -s 200 -c 15000 udp
  bench "${carrier}_clean_bw" --mode bw "${messages[@]}" --seconds 2
  captured
  [[ $carrier != ud ]] || bench ud_clean_lat --mode lat --size 64,4K --iterations 100
  capture "${carrier}_clean_ring" -s 200 -c 15000 udp
  bench "${carrier}_clean_ring" "${ring[@]}" --iterations 6
  captured
  capture "${carrier}_whole" -c 400 udp
  bench "${carrier}_whole_lat" --mode lat --size "$([[ $carrier = ud ]] && echo 4K || echo 64K)" --iterations 60
  captured
}

netem() { # NETEM-ARGUMENT...: on every port; without arguments no longer
  local port
  for port in 1 2 3 4; do
    if (($#)); then
      at_switch tc qdisc add dev p$port root netem limit 20000 "$@"
    else
      at_switch tc qdisc del dev p$port root
    fi
  done
}

case_lossy() {
  netem loss 1% delay 1ms reorder 10%
  bench "${carrier}_lossy_bw" --mode bw "${messages[@]}" --seconds 2
  counters "${carrier}_lossy"
  [[ $carrier != ud ]] || bench ud_lossy_lat --mode lat --size 64,4K --iterations 50
  bench "${carrier}_lossy_ring" "${ring[@]}" --iterations 4
  netem
}

case_doubled() {
  netem loss 1% duplicate 5% delay 100ms reorder 95%
  bench "${carrier}_doubled_bw" --mode bw "${messages[@]}" --seconds 2
  bench "${carrier}_doubled_ring" "${ring[@]}" --iterations 4
  netem
}

# Only bw over uc and rc here and below, to save time: short messages travel as over ud.
case_marked() {
  slow_red 20mbit 12000 36000
  bench "${carrier}_marked_bw" --mode bw "${messages[@]}" --seconds "$([[ $carrier = ud ]] && echo 3 || echo 2)"
  if [[ $carrier = ud ]]; then
    bench ud_marked_lat --mode lat --size 64,4K --iterations 50
    bench ud_marked_ring "${ring[@]}" --iterations 3
  fi
  counters "${carrier}_marked"
  at_switch tc qdisc del dev p2 root
}

case_weighted() {
  at_switch tc qdisc add dev p2 root handle 1: tbf rate 60mbit burst 40000 limit 4000000
  at_switch tc qdisc add dev p2 parent 1:1 handle 2: ets bands 4 strict 1 quanta 8400 8400 4200 priomap 3 3 3 3 3 3 3 3
  for match in 40:1 18:2 20:3 22:3; do # DSCP:band
    at_switch tc filter add dev p2 parent 2: protocol ip flower ip_tos $((${match%:*} << 2))/0xfc classid "2:${match#*:}"
  done
  bench "${carrier}_weighted_bw" --mode bw "${messages[@]}" --seconds 2
  if [[ $carrier = ud ]]; then
    bench ud_weighted_lat --mode lat --size 64,4K --iterations 50
    bench ud_weighted_ring "${ring[@]}" --iterations 3
  fi
  at_switch tc -s class show dev p2 >"${carrier}_weighted.classes"
  at_switch tc qdisc del dev p2 root
}

case_overload() {
  slow_red 60mbit
  # Twice the port's rate, a quarter of it protected.
  "$build/bin/roce_traffic" rxe1 rxe2 3600 5 4096 exact:1 bulk-droppable:3 >overload.json 2>overload.log
  counters overload
  at_switch tc qdisc del dev p2 root
}

case_tags() {
  # A licensed ring, behind RED that drops packets that are not ECN-capable; then with marks without information.
  # If the guest gets too little processor time to overload that port, the port is made slower.
  overloaded_ring() { # NAME PROBABILITY
    local rate
    for rate in 30 15 7; do
      slow_red ${rate}mbit 8000 80000 "$2"
      bench "$1" --mode ring --ranks 4 --size 2M --iterations 5 --warmup 0 --loss-budget 25%
      counters "$1"
      at_switch tc qdisc del dev p2 root
      (($(grep -o '"drops":[0-9]*' "$1.tc" | cut -d: -f2 | sort -n | tail -1) < 10)) || break
    done
  }
  overloaded_ring "${carrier}_tags_on" 0.5
  at_switch tc qdisc add dev p2 clsact
  for dscp in 10 12 14 20 22; do
    at_switch tc filter add dev p2 egress protocol ip flower ip_tos $((dscp << 2))/0xfc \
      action pedit ex munge ip tos set 0 retain 0x03 pipe csum ip
  done
  overloaded_ring "${carrier}_tags_off" 0.15
  at_switch tc qdisc del dev p2 clsact
}

case_speed() {
  perftest() { # NAME PROGRAM TRANSPORT
    local server
    type -P "$2" >/dev/null || return
    "$2" -d rxe2 -x 1 -c "$3" -s 4096 -D 2 -p 4901 --report_gbits >perftest_server.log 2>&1 &
    server=$!
    sleep 1
    "$2" -d rxe1 -x 1 -c "$3" -s 4096 -D 2 -p 4901 --report_gbits 127.0.0.1 >"$1.txt" 2>&1
    kill $server 2>/dev/null
    wait $server
  }
  for attempt in 1 2; do
    "$build/bin/roce_traffic" rxe1 rxe2 0 2 4096 exact:1 >speed$attempt.json 2>speed$attempt.log
    perftest perftest$attempt ib_send_bw UD
    bench speed_bw$attempt --mode bw --size 1M --seconds 2
    perftest perftest_write$attempt ib_write_bw UC
    DLCP_ROCE_PLACEMENT=on DLCP_COMPRESS=off bench speed_placed$attempt --mode bw --size 1M --seconds 2
  done
}

case_flap() {
  local outages=(1.5) outage
  # Longer than the card repeats, and again, while a path may be connected again.
  [[ $carrier != rc ]] || outages=(0.8 0.8 0.8)
  begin "${carrier}_flap_bw" --mode bw "${messages[@]}" --seconds 5
  under_way
  for outage in "${outages[@]}"; do
    at_switch ip link set p2 down
    sleep "$outage"
    at_switch ip link set p2 up
    sleep 0.5
  done
  await "${carrier}_flap_bw"
}

case_killed() {
  local -x DLCP_PEER_TIMEOUT=4
  bench "${carrier}_killed_ring" "${ring[@]}" --seconds 20 --kill-rank 2 --kill-after-ms 1500
}

case_down() {
  local -x DLCP_PEER_TIMEOUT=4
  local neighbours
  neighbours=$(ip neigh show dev r4 nud permanent | sed 's/^/neigh replace /; s/PERMANENT/nud permanent dev r4/')
  begin "${carrier}_down_ring" --each-finds-out "${ring[@]}" --seconds 20
  under_way
  ip link set r4 down
  await "${carrier}_down_ring"
  # The kernel has removed what guest_roce.sh added for this port.
  ip link set r4 up
  ip route add 10.77.0.0/24 dev r4 src 10.77.0.4 table 1004
  ip -batch - <<<"$neighbours"
}

case_removed() {
  local -x DLCP_PEER_TIMEOUT=4
  begin "${carrier}_removed_bw" --each-finds-out --mode bw "${messages[@]}" --seconds 20
  under_way
  rdma link delete rxe2
  echo $? >"${carrier}_removed.status"
  await "${carrier}_removed_bw"
  rdma link add rxe2 type rxe netdev r2
}

modprobe -a sch_tbf sch_red sch_ets sch_netem cls_flower act_pedit act_csum act_gact
export DLCP_PEER_TIMEOUT=10
for one in $steps; do
  case $one in
    ud_* | uc_* | rc_*) over "${one%%_*}" ;;
    *) over ud ;;
  esac
  "case_${one#"${carrier}_"}"
  dmesg >kernel.txt
  step "$one"
done
