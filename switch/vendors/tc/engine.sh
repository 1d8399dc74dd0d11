# ---- apply, rollback and show with the tables above; this part is the same in every script
state=${DLCP_SWITCH_STATE:-/var/lib/dlcp-switch}/$switch
PATH=$PATH:/usr/sbin:/sbin

say() { echo "$switch: $*"; }
complain() { echo "$switch: $*" >&2; }

# The queues and filters of PORT as tc shows them, without counters and numbers that the kernel assigns.
snapshot() {
  printf '%s\n' "qdisc show dev $1" "filter show dev $1" "filter show dev $1 ingress" "filter show dev $1 egress" |
    tc -force -batch - 2>/dev/null |
    sed -E -e 's/ refcnt [0-9]+//' -e 's/\b80[0-9a-f]{2}:/auto:/g' -e '/^[[:space:]]+index [0-9]+ ref/d' \
      -e 's/ index [0-9]+ ref [0-9]+ bind [0-9]+//' -e 's/[[:space:]]+$//'
}

saved() { [ -e "$state/$1.$2" ] && echo "$(<"$state/$1.$2")"; } # PORT before|after|rows
save() { # PORT before|after|rows TEXT: writes the file completely or not at all
  if echo "$3" >"$state/$1.$2.new" && mv "$state/$1.$2.new" "$state/$1.$2"; then return 0; fi
  complain "$1: $state/$1.$2 cannot be written"
  rm -f "$state/$1.$2.new"
  return 1
}
is() { [ -e "$state/$1.$2" ] && [ "$3" = "$(<"$state/$1.$2")" ]; } # PORT before|after|rows TEXT

difference() { # PORT EXPECTED NOW, indented
  diff <(echo "$2") <(echo "$3") | sed 's/^/    /' >&2
}

drifted() { # PORT SINCE EXPECTED NOW: refuses the port
  complain "$1 has changed since $2:"
  difference "$1" "$3" "$4"
  return 3
}

# The place for DLCP's queues on a port with this snapshot: "root" if the port has the kernel's own queue, or
# the parent below a token bucket of the site that has no other queue. Any other tree is refused.
attach_point() { # PORT SNAPSHOT
  local line kind handle trees=0
  while read -r line; do
    case $line in
      "qdisc clsact "* | "qdisc ingress "*)
        complain "$1 has filters of the site (clsact or ingress)"
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
    complain "$1 has queues of the site ($kind $handle)"
    return 1
  fi
}

# Returns 3 and prints the reason if the port has an unknown configuration. Changes nothing.
may_apply() { # PORT SNAPSHOT
  local imported
  if [ -z "$2" ]; then
    complain "$1: the port does not exist, or it is down"
    return 3
  fi
  if is "$1" after "$2" || is "$1" before "$2"; then return 0; fi
  if [ -e "$state/$1.after" ]; then
    drifted "$1" "DLCP's queues were applied" "$(saved "$1" after)" "$2"
    return
  elif [ -e "$state/$1.before" ]; then
    complain "$1: an earlier run ended before it was done. First run: bash $0 rollback $1"
    return 3
  fi
  imported=$(imported_of "$1")
  if [ -n "$imported" ] && [ "$imported" != "$(grep -E '^(qdisc| vq)' <<<"$2")" ]; then
    drifted "$1" "its configuration was imported" "$imported" "$2"
    return
  fi
  attach_point "$1" "$2" >/dev/null || return 3
}

may_roll_back() { # PORT SNAPSHOT
  if [ ! -e "$state/$1.after" ] || is "$1" after "$2" || is "$1" before "$2"; then return 0; fi
  if [ -z "$2" ]; then
    complain "$1: the port does not exist. If it is gone for good, delete $state/$1.{before,after,rows}"
    return 3
  fi
  drifted "$1" "DLCP's queues were applied" "$(saved "$1" after)" "$2"
}

# A token bucket whose queue was deleted forwards no packets. Setting its parameters again creates a new queue. tc may
# show a burst that is one byte smaller than the configured one, so the burst plus one byte is tried, too.
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

# Removes those of DLCP's queues and filters that exist. A token bucket is always restored: an earlier run may have
# ended right after it had removed the queue, and tc's output does not show that the bucket has none.
remove() { # PORT
  local now parent bucket
  now=$(tc qdisc show dev "$1")
  if grep -q '^qdisc clsact ' <<<"$now"; then tc qdisc del dev "$1" clsact || return 1; fi
  parent=$(sed -nE 's/^qdisc ets d1c0: (root|parent [0-9a-f]+:1) .*/\1/p' <<<"$now")
  # shellcheck disable=SC2086  # two words
  if [ -n "$parent" ]; then tc qdisc del dev "$1" $parent || return 1; fi
  bucket=$(sed -nE 's/^qdisc tbf ([0-9a-f]+:) root .*/\1/p' <<<"$now")
  if [ -n "$bucket" ]; then restore_token_bucket "$1" "$bucket" || return 1; fi
  is "$1" before "$(snapshot "$1")"
}

build() { # PORT ROWS: adds the queues to a port that has none of DLCP's
  local now at
  now=$(snapshot "$1")
  at=$(attach_point "$1" "$now") || return 1
  save "$1" before "$now" || return 1
  echo "${2/ handle / $at handle }" | tc -batch - || return 1 # the first row names no place
  save "$1" rows "$2" || return 1
  save "$1" after "$(snapshot "$1")" || return 1
  say "$1: applied ($at)"
}

apply_port() { # PORT SNAPSHOT
  local rows
  rows=$(rows_of "$1")
  if is "$1" after "$2" && is "$1" rows "$rows"; then
    say "$1: nothing to do"
    return
  fi
  changed+=("$1")
  if is "$1" after "$2"; then
    earlier[$1]=$(saved "$1" rows)
    rm "$state/$1.after" || return 1
    remove "$1" || return 1
  fi
  build "$1" "$rows"
}

# Undoes apply_port: restores the queues of the earlier plan. Without an earlier plan, or if that fails, it restores the
# queues that the port had without DLCP. Returns 1 if the port does not have the queues from before this run.
revert_port() { # PORT
  rm -f "$state/$1.after" # without this record, the port counts as partly changed and not as drifted
  if [ -z "${earlier[$1]:-}" ]; then
    rollback_port "$1"
  elif ! { remove "$1" && build "$1" "${earlier[$1]}"; }; then
    complain "$1: the queues of the earlier plan could not be restored; removing them"
    rollback_port "$1"
    return 1
  fi
}

rollback_port() { # PORT
  if [ ! -e "$state/$1.before" ]; then
    say "$1: nothing to do"
    return
  fi
  rm -f "$state/$1.after" # if this run ends early, the next one finds a partly changed port and no drift
  if ! remove "$1"; then
    complain "$1 does not have its previous state:"
    difference "$1" "$(saved "$1" before)" "$(snapshot "$1")"
    return 1
  fi
  rm -f "$state/$1.before" "$state/$1.rows"
  say "$1: restored"
}

# Saves each setting before it is changed. An empty record counts as none: earlier versions of this script left one
# for a setting that the kernel did not have.
apply_forwarding() {
  local setting name before
  for setting in "${forwarding[@]}"; do
    name=${setting%=*}
    if [ ! -s "$state/$name" ]; then
      before=$(sysctl -n "$name" 2>/dev/null) || continue # the kernel does not have it, as without IPv6
      echo "$before" >"$state/$name" || return 1
    fi
    sysctl -qw "$setting" || return 1
  done
}

rollback_forwarding() {
  local setting name now
  for setting in "${forwarding[@]}"; do
    name=${setting%=*}
    if [ ! -s "$state/$name" ]; then
      rm -f "$state/$name"
      continue
    fi
    now=$(sysctl -n "$name")
    if [ "$now" = "${setting#*=}" ]; then
      sysctl -qw "$name=$(<"$state/$name")" || return 1
    elif [ "$now" != "$(<"$state/$name")" ]; then
      complain "$name was changed since then; it is not restored"
    fi
    rm -f "$state/$name"
  done
}

apply() {
  local port status=0 failed=()
  mkdir -p "$state" || return 1
  changed=()
  declare -gA earlier=() # rows of the plans that this run replaces, by port
  for port in "${chosen[@]}"; do
    if [ -n "$interrupted" ] || ! apply_port "$port" "${now[$port]}"; then
      status=1
      break
    fi
  done
  [ $status != 0 ] || apply_forwarding || status=1
  if [ $status != 0 ] || [ -n "$interrupted" ]; then
    status=1
    trap '' INT TERM HUP # the terminal would also send them to tc
    complain "${interrupted:-failed}; reverting the changes"
    for port in "${changed[@]}"; do revert_port "$port" || failed+=("$port"); done
    if ! rollback_unused || [ ${#failed[@]} != 0 ]; then
      status=4
      complain "not everything was reverted: see above, then run: bash $0 rollback ${failed[*]}"
    fi
  fi
  return $status
}

rollback_unused() { # restores the forwarding settings if no port has DLCP's queues
  if compgen -G "$state/*.before" >/dev/null; then return 0; fi
  rollback_forwarding || return 1
  rmdir "$state" 2>/dev/null
  return 0
}

rollback() {
  local port status=0
  trap '' INT TERM HUP # the terminal would also send them to tc
  for port in "${chosen[@]}"; do rollback_port "$port" || status=1; done
  rollback_unused || status=1
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
[ "$(id -u)" = 0 ] || { complain "this script must run as root"; exit 1; }
# Ports of an earlier plan that are not in this one. They keep their queues until they are rolled back.
left=()
for port in "$state"/*.before; do
  port=$(basename "$port" .before)
  [[ $port == '*' || " ${ports[*]} " == *" $port "* ]] || left+=("$port")
done
allowed=("${ports[@]}")
[ "$verb" = apply ] || allowed+=("${left[@]}")
chosen=("$@")
[ $# != 0 ] || chosen=("${allowed[@]}")
interrupted=
trap 'interrupted=interrupted' INT TERM
trap 'interrupted=interrupted; exec >/dev/null 2>&1' HUP # writing to a lost terminal would fail
trap '' PIPE
declare -A now
refused=0
kept=() # ports in `left` that have drifted: a rollback of all ports skips them
for port in "${chosen[@]}"; do
  if [[ " ${allowed[*]} " != *" $port "* ]]; then
    complain "$port is not a port of this script"
    exit 2
  fi
  now[$port]=$(snapshot "$port")
  case $verb in
    apply) may_apply "$port" "${now[$port]}" || refused=3 ;;
    rollback)
      if may_roll_back "$port" "${now[$port]}"; then continue; fi
      if [ $# = 0 ] && [[ " ${left[*]} " == *" $port "* ]]; then kept+=("$port"); else refused=3; fi ;;
  esac
done
if [ $refused != 0 ]; then
  complain "refused; nothing was changed"
  exit $refused
fi
if [ ${#kept[@]} != 0 ]; then
  complain "${kept[*]}: not in this plan; left as they are, with the queues of an earlier one"
  for port in "${!chosen[@]}"; do
    if [[ " ${kept[*]} " == *" ${chosen[port]} "* ]]; then unset "chosen[port]"; fi
  done
fi
if [ "$verb" = apply ] && [ ${#left[@]} != 0 ]; then
  complain "${left[*]}: not in this plan, with queues of an earlier one. To remove them: bash $0 rollback ${left[*]}"
fi
"$verb"
