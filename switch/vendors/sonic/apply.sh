#!/bin/bash
# Applies this folder's change to the SONiC switch on which it runs. A second run changes nothing.
#
#   bash apply.sh [--dry-run] [--batch N] [--drain] [PATCH...]      default: all patches, in order
#   bash apply.sh --rollback [--dry-run] [--batch N] [--drain] [PATCH...]
#
# Nothing is applied if a row of a patch differs from the imported one. Definitions affect no port. The
# updater takes the ports of a 20-ports patch down for minutes, so the script changes one port at a
# time, or N with --batch N (never more than half of the uplinks). Apply one patch first as the canary,
# and drain jobs from the hosts behind its ports. --drain moves routed traffic away (TSA) before ports
# change and back (TSB) afterwards; a switch that is in maintenance already stays so. If a patch fails, or
# the script is interrupted or loses its terminal, it reverts the rows of this run. It takes
# a checkpoint before the first patch, for repairs by hand.
# Exit: 0 done or nothing to do, 2 usage, 3 a row has drifted, 4 refused, or done and still drained, 5 refused and not
# reverted, or still drained.
set -u

here=$(cd "$(dirname "$0")" && pwd)
folder=$here
dry=
drain=
batch=1
verb=apply
patches=()
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry=--dry-run ;;
    --drain) drain=yes ;;
    --batch) batch=${2:-}; shift ;;
    --rollback) folder=$here/rollback verb=rollback ;;
    -*) sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) patches+=("$(basename "$1")") ;;
  esac
  shift
done
if ! [[ $batch =~ ^[1-9][0-9]{0,3}$ ]]; then
  echo "--batch: '$batch' is not a number of ports" >&2
  exit 2
fi
if [ ${#patches[@]} -eq 0 ]; then
  mapfile -t patches < <(find "$folder" -maxdepth 1 \( -name '*.json-patch' -o -name '*.json-direct' \) -printf '%f\n' | sort)
fi
patches=("${patches[@]/#/$folder/}")
if [ "$verb" = rollback ]; then  # in reverse order
  mapfile -t patches < <(printf '%s\n' "${patches[@]}" | sort -r)
fi

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
guard() { python3 "$here/guard.py" "$@"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
running=$work/running.json
read_running() { as_root sonic-cfggen -d --print-data >"$running"; }

# Applies a patch. A .json-direct patch has rows of tables that the updater of this release refuses: these rows are
# written to the database, or deleted from it, without the updater.
write_patch() {
  if [[ $1 != *.json-direct* ]]; then
    as_root config apply-patch "$1"
    return
  fi
  guard load "$1" >"$work/load.json" || return
  if [ "$(cat "$work/load.json")" != "{}" ]; then as_root config load -y "$work/load.json" || return; fi
  while read -r row; do
    as_root sonic-db-cli CONFIG_DB DEL "$row" >/dev/null || return
  done < <(guard removed "$1")
}

read_running || exit 4
todo=()
for patch in "${patches[@]}"; do
  if [ ! -e "$patch" ]; then
    echo "$folder has no patch $(basename "$patch")" >&2
    exit 2
  fi
  mkdir -p "$work/parts"
  if [[ $(basename "$patch") == 20-ports* ]]; then
    guard split "$batch" "$patch" "$work/parts" >>"$work/list" || exit 2
  else
    printf '%s\t\n' "$patch" >>"$work/list"
  fi
done
while IFS=$'\t' read -r patch ports; do
  # guard.py also reports a row that this patch removes while other rows refer to it. An earlier patch of this run may
  # remove these references, so that is no drift.
  state=$(guard state "$patch" "$running" 2>"$work/why")
  if [ $? -ne 0 ] && ! { grep -q ': still the ' "$work/why" && [ ${#todo[@]} -gt 0 ]; }; then
    cat "$work/why" >&2
    echo "refused: some rows of $(basename "$patch") match neither the imported nor the planned configuration" >&2
    exit 3
  fi
  if [ "$state" != after ]; then todo+=("$patch"$'\t'"$ports"); fi
done <"$work/list"
if [ ${#todo[@]} -eq 0 ]; then
  echo "nothing to do: every row already has the state after this $verb"
  exit 0
fi
if [ -n "$dry" ]; then
  # Later patches refer to rows of the first one, so only the first can be tested without applying it.
  for step in "${todo[@]}"; do echo "would $verb: $(basename "${step%%$'\t'*}") ${step#*$'\t'}"; done
  first=${todo[0]%%$'\t'*}
  if [[ $first == *.json-direct* ]]; then exit 0; fi
  as_root config apply-patch --dry-run "$first" || exit 4
  exit 0
fi

# Reverts only the rows of this run, in reverse order.
take_back() {
  local at patch
  for ((at = ${#done[@]} - 1; at >= 0; --at)); do
    patch=${done[at]}
    read_running || return
    guard undo "$patch" "$running" >"$work/undo.json-${patch##*.json-}" || return
    if [ "$(cat "$work/undo.json-${patch##*.json-}")" = "[]" ]; then continue; fi
    write_patch "$work/undo.json-${patch##*.json-}" || return
  done
}

drain_state() { as_root sonic-db-cli CONFIG_DB HGET 'BGP_DEVICE_GLOBAL|STATE' tsa_enabled; }
is_drained() { [ "$(drain_state)" = true ]; }

revert_run() {  # WHY
  echo "$1; reverting the rows of this run" >&2
  if take_back; then
    if [ -n "$drained" ]; then undrain || exit 5; fi
    exit 4
  fi
  echo "some rows could not be reverted: compare with checkpoint $checkpoint (config rollback" \
    "$checkpoint would also revert later changes by others)${drained:+; the switch is still drained: run TSB}" >&2
  exit 5
}

undrain() {
  if ! as_root TSB && [ "$(drain_state)" != false ]; then  # TSB may fail after it has ended the drain
    echo "TSB failed: the switch is still drained and attracts no routed traffic. Look at \`TSC\`, then run: sudo TSB" >&2
    return 1
  fi
  rm -f "$here/drained"
}

interrupted=
trap 'interrupted=yes' INT TERM
# After a hangup, commands that write to the terminal would fail, so output goes to a file.
trap 'interrupted=yes; exec >>"$here/apply.log" 2>&1' HUP
trap '' PIPE
if [ -n "$drain" ] && ! is_drained; then
  rm -f "$here/drained"  # from an earlier run; that drain has ended
elif [ -n "$drain" ] && [ ! -e "$here/drained" ]; then
  echo "the switch is drained already (TSA), and stays so"
  drain=
fi
checkpoint=dlcp-$verb-$(date +%Y%m%d-%H%M%S)
as_root config checkpoint "$checkpoint" || exit 4
drained=
done=()
for step in "${todo[@]}"; do
  patch=${step%%$'\t'*}
  ports=${step#*$'\t'}
  if [ -n "$drain" ] && [ -z "$drained" ] && [ -n "$ports" ]; then
    as_root TSA
    failed=$?
    if [ $failed -eq 0 ] || is_drained; then  # TSA may fail after it has drained the switch
      : >"$here/drained"  # a later run, such as a rollback, sees that the drain is of this script, and ends it
      drained=yes
    fi
    if [ $failed -ne 0 ]; then revert_run "TSA ${interrupted:+was interrupted or }failed"; fi
  fi
  echo "$verb: $(basename "$patch") $ports"
  done+=("$patch")
  read_running && guard state "$patch" "$running" >/dev/null && write_patch "$patch" && [ -z "$interrupted" ] && continue
  revert_run "$(basename "$patch") was ${interrupted:+interrupted or }refused"
done
if [ -n "$drained" ] && ! undrain; then
  echo "the $verb itself is done; checkpoint $checkpoint" >&2
  exit 4
fi
echo "done; checkpoint $checkpoint. To keep the change after a reboot, run: sudo config save -y"
