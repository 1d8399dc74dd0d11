#!/bin/bash
# Queues of switch leaf4 for DLCP, made by dlcp-switch: change the intent file and render again,
# not this file.
#
#   dlcp-qos.sh apply [PORT...]      puts the queues on every port; where they are, does nothing
#   dlcp-qos.sh rollback [PORT...]   takes them away and puts back what was there
#   dlcp-qos.sh show [PORT...]       applied, not applied or changed since, and the counters
#
# A port whose queues have changed since they were imported or applied is refused, and nothing is
# changed then. What was there before is kept in $DLCP_SWITCH_STATE (default /var/lib/dlcp-switch).
# Exit: 0 done; 1 failed, and what was changed was taken back; 2 usage; 3 refused.
#
# ets serves the strict bands in order, then the weighted ones by turns. tbf bounds a strict queue.
# red and gred mark above min (RED's weight is 1/2, the least tc accepts: the depth of the moment);
# gred drops each level above the level's own limit, measured on the whole queue.

switch=leaf4
ports=(eth1 eth2 eth3 eth4)
forwarding=(net.ipv4.fib_multipath_hash_policy=1 net.ipv6.fib_multipath_hash_policy=1)  # multipath routes by the 5-tuple

group_1() { # 100000000000 bit/s; DSCPs are taken as they arrive
  # band d1c0:1 is queue 6 cnp, strict
  # band d1c0:2 is queue 5 control, strict, at most 10000000000 bit/s
  # band d1c0:3 is queue 4 exact, weight 16, marked above 67200 bytes
  # band d1c0:4 is queue 3 roce, weight 20
  # band d1c0:5 is queue 2 urgent, weight 16
  # band d1c0:6 is queue 1 bulk, weight 8
  # band d1c0:7 is queue 0 site, weight 20
  cat <<END
qdisc add dev $1 $2 handle d1c0: ets bands 7 strict 2 quanta 4800 6000 4800 2400 6000 priomap 6 6 6 6 6 6 6 6 6 6 6 6 6 6 6 6
qdisc add dev $1 parent d1c0:2 handle d1c2: tbf rate 10000000000bit burst 1250000 limit 500000
qdisc add dev $1 parent d1c0:3 handle d1c3: red limit 500000 min 67200 max 67201 avpkt 2100 burst 32 probability 1 bandwidth 30000000000bit ecn nodrop
qdisc add dev $1 parent d1c0:5 handle d1c5: bfifo limit 500000
qdisc add dev $1 parent d1c0:6 handle d1c6: bfifo limit 500000
qdisc add dev $1 clsact
filter add dev $1 egress protocol ip pref 53504 flower ip_tos 0x28/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ipv6 pref 53505 flower ip_tos 0x28/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ip pref 53506 flower ip_tos 0x30/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ipv6 pref 53507 flower ip_tos 0x30/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ip pref 53508 flower ip_tos 0x38/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ipv6 pref 53509 flower ip_tos 0x38/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ip pref 53510 flower ip_tos 0x48/0xfc classid d1c0:0 action skbedit priority d1c0:3 pass
filter add dev $1 egress protocol ipv6 pref 53511 flower ip_tos 0x48/0xfc classid d1c0:0 action skbedit priority d1c0:3 pass
filter add dev $1 egress protocol ip pref 53512 flower ip_tos 0x50/0xfc classid d1c0:0 action skbedit priority d1c0:5 pass
filter add dev $1 egress protocol ipv6 pref 53513 flower ip_tos 0x50/0xfc classid d1c0:0 action skbedit priority d1c0:5 pass
filter add dev $1 egress protocol ip pref 53514 flower ip_tos 0x58/0xfc classid d1c0:0 action skbedit priority d1c0:5 pass
filter add dev $1 egress protocol ipv6 pref 53515 flower ip_tos 0x58/0xfc classid d1c0:0 action skbedit priority d1c0:5 pass
filter add dev $1 egress protocol ip pref 53516 flower ip_tos 0x68/0xfc classid d1c0:0 action skbedit priority d1c0:4 pass
filter add dev $1 egress protocol ipv6 pref 53517 flower ip_tos 0x68/0xfc classid d1c0:0 action skbedit priority d1c0:4 pass
filter add dev $1 egress protocol ip pref 53518 flower ip_tos 0xa0/0xfc classid d1c0:0 action skbedit priority d1c0:2 pass
filter add dev $1 egress protocol ipv6 pref 53519 flower ip_tos 0xa0/0xfc classid d1c0:0 action skbedit priority d1c0:2 pass
filter add dev $1 egress protocol ip pref 53520 flower ip_tos 0xc0/0xfc classid d1c0:0 action skbedit priority d1c0:1 pass
filter add dev $1 egress protocol ipv6 pref 53521 flower ip_tos 0xc0/0xfc classid d1c0:0 action skbedit priority d1c0:1 pass
END
}

group_2() { # 100000000000 bit/s; DSCPs are taken as they arrive
  # band d1c0:1 is queue 6 cnp, strict
  # band d1c0:2 is queue 5 control, strict, at most 10000000000 bit/s
  # band d1c0:3 is queue 4 exact, weight 16, marked above 67200 bytes
  # band d1c0:4 is queue 3 roce, weight 20
  # band d1c0:5 is queue 2 urgent, weight 16
  # band d1c0:6 is queue 1 bulk, weight 8
  # band d1c0:7 is queue 0 site, weight 20
  cat <<END
qdisc add dev $1 $2 handle d1c0: ets bands 7 strict 2 quanta 4800 6000 4800 2400 6000 priomap 6 6 6 6 6 6 6 6 6 6 6 6 6 6 6 6
qdisc add dev $1 parent d1c0:2 handle d1c2: tbf rate 10000000000bit burst 1250000 limit 500000
qdisc add dev $1 parent d1c0:3 handle d1c3: red limit 500000 min 67200 max 67201 avpkt 2100 burst 32 probability 1 bandwidth 30000000000bit ecn nodrop
qdisc add dev $1 parent d1c0:5 handle d1c5: bfifo limit 500000
qdisc add dev $1 parent d1c0:6 handle d1c6: bfifo limit 500000
qdisc add dev $1 clsact
filter add dev $1 egress protocol ip pref 53504 flower ip_tos 0x28/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ipv6 pref 53505 flower ip_tos 0x28/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ip pref 53506 flower ip_tos 0x30/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ipv6 pref 53507 flower ip_tos 0x30/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ip pref 53508 flower ip_tos 0x38/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ipv6 pref 53509 flower ip_tos 0x38/0xfc classid d1c0:0 action skbedit priority d1c0:6 pass
filter add dev $1 egress protocol ip pref 53510 flower ip_tos 0x48/0xfc classid d1c0:0 action skbedit priority d1c0:3 pass
filter add dev $1 egress protocol ipv6 pref 53511 flower ip_tos 0x48/0xfc classid d1c0:0 action skbedit priority d1c0:3 pass
filter add dev $1 egress protocol ip pref 53512 flower ip_tos 0x50/0xfc classid d1c0:0 action skbedit priority d1c0:5 pass
filter add dev $1 egress protocol ipv6 pref 53513 flower ip_tos 0x50/0xfc classid d1c0:0 action skbedit priority d1c0:5 pass
filter add dev $1 egress protocol ip pref 53514 flower ip_tos 0x58/0xfc classid d1c0:0 action skbedit priority d1c0:5 pass
filter add dev $1 egress protocol ipv6 pref 53515 flower ip_tos 0x58/0xfc classid d1c0:0 action skbedit priority d1c0:5 pass
filter add dev $1 egress protocol ip pref 53516 flower ip_tos 0x68/0xfc classid d1c0:0 action skbedit priority d1c0:4 pass
filter add dev $1 egress protocol ipv6 pref 53517 flower ip_tos 0x68/0xfc classid d1c0:0 action skbedit priority d1c0:4 pass
filter add dev $1 egress protocol ip pref 53518 flower ip_tos 0xa0/0xfc classid d1c0:0 action skbedit priority d1c0:2 pass
filter add dev $1 egress protocol ipv6 pref 53519 flower ip_tos 0xa0/0xfc classid d1c0:0 action skbedit priority d1c0:2 pass
filter add dev $1 egress protocol ip pref 53520 flower ip_tos 0xc0/0xfc classid d1c0:0 action skbedit priority d1c0:1 pass
filter add dev $1 egress protocol ipv6 pref 53521 flower ip_tos 0xc0/0xfc classid d1c0:0 action skbedit priority d1c0:1 pass
END
}

rows_of() { # PORT PLACE
  case $1 in
    eth1 | eth2) group_1 "$@" ;;
    eth3 | eth4) group_2 "$@" ;;
  esac
}

imported_of() { # PORT
  case $1 in
    *) ;;
  esac
}

# ---- the same in every script: apply, rollback and show, by the tables above
state=${DLCP_SWITCH_STATE:-/var/lib/dlcp-switch}/$switch
PATH=$PATH:/usr/sbin:/sbin

say() { echo "$switch: $*"; }
complain() { echo "$switch: $*" >&2; }

# What tc shows of PORT, without counters and without numbers that the kernel deals out anew each time.
snapshot() {
  printf '%s\n' "qdisc show dev $1" "filter show dev $1" "filter show dev $1 ingress" "filter show dev $1 egress" |
    tc -force -batch - 2>/dev/null |
    sed -E -e 's/ refcnt [0-9]+//' -e 's/\b80[0-9a-f]{2}:/auto:/g' -e '/^[[:space:]]+index [0-9]+ ref/d' \
      -e 's/ index [0-9]+ ref [0-9]+ bind [0-9]+//' -e 's/[[:space:]]+$//'
}

saved() { [ -e "$state/$1.$2" ] && echo "$(<"$state/$1.$2")"; } # PORT before|after|rows
is() { [ -e "$state/$1.$2" ] && [ "$3" = "$(<"$state/$1.$2")" ]; } # PORT before|after|rows TEXT

difference() { # PORT EXPECTED NOW, indented
  diff <(echo "$2") <(echo "$3") | sed 's/^/    /' >&2
}

# Where the queues of a port go that looks like this: "root" in place of what the kernel puts there by
# itself, or below a token bucket of the site's that holds nothing else. Any other tree is not touched.
attach_point() { # PORT SNAPSHOT
  local line kind handle trees=0
  while read -r line; do
    case $line in
      "qdisc clsact "* | "qdisc ingress "*)
        complain "$1 has filters of the site's own (clsact or ingress)"
        return 1 ;;
      "qdisc "*" root"*) read -r _ kind handle _ <<<"$line" ;;
    esac
    case $line in qdisc*) trees=$((trees + 1)) ;; esac
  done <<<"$2"
  if [ "$handle" = 0: ]; then
    echo root
  elif [ "$kind" = tbf ] && [ $trees = 1 ]; then
    [ "$handle" != auto: ] || handle=$(tc qdisc show dev "$1" | sed -nE 's/^qdisc tbf ([0-9a-f]+:) root.*/\1/p')
    echo "parent ${handle}1"
  else
    complain "$1 has queues of the site's own ($kind $handle)"
    return 1
  fi
}

# Status 3 and the reason, where apply would meet what it does not know. Nothing is touched.
may_apply() { # PORT SNAPSHOT
  local imported
  if [ -z "$2" ]; then
    complain "$1: there is no such port, or it is down"
    return 3
  fi
  if is "$1" after "$2" || is "$1" before "$2"; then return 0; fi
  if [ -e "$state/$1.before" ]; then
    complain "$1 has changed since DLCP's queues were applied:"
    difference "$1" "$(saved "$1" after || saved "$1" before)" "$2"
    return 3
  fi
  imported=$(imported_of "$1")
  if [ -n "$imported" ] && [ "$imported" != "$(grep -E '^(qdisc| vq)' <<<"$2")" ]; then
    complain "$1 has changed since its configuration was imported:"
    difference "$1" "$imported" "$2"
    return 3
  fi
  attach_point "$1" "$2" >/dev/null || return 3
}

may_roll_back() { # PORT SNAPSHOT
  if [ ! -e "$state/$1.after" ] || is "$1" after "$2" || is "$1" before "$2"; then return 0; fi
  complain "$1 has changed since DLCP's queues were applied:"
  difference "$1" "$(saved "$1" after)" "$2"
  return 3
}

# A token bucket that has lost its queue passes nothing on: told its own parameters again, it makes itself
# a new one. What tc shows of a burst may be a byte less than what it was told.
restore_token_bucket() { # PORT HANDLE
  local rate burst limit more
  read -r rate burst limit < <(tc -r qdisc show dev "$1" | awk '$2 == "tbf" && / root / {
    for (i = 1; i < NF; i++) {
      if ($i == "rate") rate = $(i + 1)
      if ($i == "burst") { burst = $(i + 1); sub(/\/.*/, "", burst) }
      if ($i == "limit") limit = $(i + 1)
    }
    print rate, burst, limit }')
  for more in 0 1; do
    tc qdisc change dev "$1" root handle "$2" tbf rate "$rate" burst "$((${burst%b} + more))b" limit "$limit" || return 1
    if is "$1" before "$(snapshot "$1")"; then return 0; fi
  done
}

remove() { # PORT: DLCP's rows, whichever of them there are
  local now parent
  now=$(tc qdisc show dev "$1")
  if grep -q '^qdisc clsact ' <<<"$now"; then tc qdisc del dev "$1" clsact || return 1; fi
  parent=$(sed -nE 's/^qdisc ets d1c0: (root|parent ([0-9a-f]+:1)) .*/\1/p' <<<"$now")
  case $parent in
    root) tc qdisc del dev "$1" root || return 1 ;;
    parent*)
      parent=${parent#parent }
      tc qdisc del dev "$1" parent "$parent" || return 1
      restore_token_bucket "$1" "${parent%1}" || return 1 ;;
  esac
  is "$1" before "$(snapshot "$1")"
}

apply_port() { # PORT SNAPSHOT
  local now=$2 at rows
  rows=$(rows_of "$1" "")
  if is "$1" after "$now"; then
    if is "$1" rows "$rows"; then
      say "$1: nothing to do"
      return
    fi
    changed+=("$1") # an earlier plan's queues make way for this one's
    remove "$1" || return 1
    now=$(snapshot "$1")
  fi
  at=$(attach_point "$1" "$now") || return 1
  echo "$now" >"$state/$1.before"
  rm -f "$state/$1.after"
  changed+=("$1")
  rows_of "$1" "$at" | tc -batch - || return 1
  echo "$rows" >"$state/$1.rows"
  snapshot "$1" >"$state/$1.after"
  say "$1: applied ($at)"
}

rollback_port() { # PORT SNAPSHOT
  if [ ! -e "$state/$1.before" ]; then
    say "$1: nothing to do"
    return
  fi
  if ! is "$1" before "$2" && ! remove "$1"; then
    complain "$1 is not as it was before:"
    difference "$1" "$(saved "$1" before)" "$(snapshot "$1")"
    return 1
  fi
  rm -f "$state/$1.before" "$state/$1.after" "$state/$1.rows"
  say "$1: as before"
}

apply_forwarding() { # each setting is noted before it is changed
  local setting name
  for setting in "${forwarding[@]}"; do
    name=${setting%=*}
    [ -e "$state/$name" ] || sysctl -n "$name" >"$state/$name" 2>/dev/null || continue
    sysctl -qw "$setting" || return 1
  done
}

rollback_forwarding() {
  local setting name
  for setting in "${forwarding[@]}"; do
    name=${setting%=*}
    [ -e "$state/$name" ] || continue
    if [ "$(sysctl -n "$name")" = "${setting#*=}" ]; then
      sysctl -qw "$name=$(<"$state/$name")" || return 1
    else
      complain "$name was changed since; left alone"
    fi
    rm -f "$state/$name"
  done
}

apply() {
  local port status=0
  mkdir -p "$state" || return 1
  changed=()
  for port in "${chosen[@]}"; do apply_port "$port" "${now[$port]}" || { status=1; break; }; done
  [ $status != 0 ] || apply_forwarding || status=1
  if [ $status != 0 ]; then
    complain "failed; taking back what was changed"
    for port in "${changed[@]}"; do
      rm -f "$state/$port.after" # what there is of it is half done, and no drift
      rollback_port "$port" "$(snapshot "$port")"
    done
  fi
  return $status
}

rollback() {
  local port status=0
  for port in "${chosen[@]}"; do rollback_port "$port" "${now[$port]}" || status=1; done
  if ! compgen -G "$state/*.before" >/dev/null; then
    rollback_forwarding || status=1
    rmdir "$state" 2>/dev/null
  fi
  return $status
}

show() {
  local port status=0
  for port in "${chosen[@]}"; do
    if is "$port" after "${now[$port]}"; then
      say "$port: applied"
    elif [ ! -e "$state/$port.before" ] || is "$port" before "${now[$port]}"; then
      say "$port: not applied"
    else
      say "$port: changed since DLCP's queues were applied"
      status=3
    fi
    tc -s qdisc show dev "$port"
  done
  return $status
}

verb=${1:-}
case $verb in
  apply | rollback | show) shift ;;
  *) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
[ "$(id -u)" = 0 ] || { complain "needs root"; exit 1; }
chosen=("$@")
[ $# != 0 ] || chosen=("${ports[@]}")
declare -A now
refused=0
for port in "${chosen[@]}"; do
  if [[ " ${ports[*]} " != *" $port "* ]]; then
    complain "$port is not a port of this script"
    exit 2
  fi
  now[$port]=$(snapshot "$port")
  case $verb in
    apply) may_apply "$port" "${now[$port]}" || refused=3 ;;
    rollback) may_roll_back "$port" "${now[$port]}" || refused=3 ;;
  esac
done
if [ $refused != 0 ]; then
  complain "refused; nothing was changed"
  exit $refused
fi
"$verb"
