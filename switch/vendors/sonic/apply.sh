#!/bin/bash
# Applies this folder's change on the SONiC switch where it runs; a second time it does nothing.
#
#   bash apply.sh [--dry-run] [--batch N] [--drain] [PATCH...]      default: all patches, in their order
#   bash apply.sh --rollback [--dry-run] [--batch N] [--drain] [PATCH...]
#
# Nothing is applied if a row that a patch touches is not as it was imported. Definitions touch no
# port. The updater takes the ports of a 20-ports patch down for minutes, so they go one by one, or
# --batch N at a time (of uplinks never more than half): name one patch first as the canary, and drain
# jobs from hosts behind its ports. --drain moves routed traffic away (TSA) before ports change and
# back (TSB) after them. If a patch fails, this run's own rows go back to what they were; a checkpoint
# is taken before the first patch for what is left to be done by hand.
# Exit: 0 done or nothing to do, 2 usage, 3 a row has drifted, 4 refused, 5 refused and not taken back.
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
    -*) sed -n '2,14s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) patches+=("$folder/$(basename "$1")") ;;
  esac
  shift
done
if ! [[ $batch =~ ^[1-9][0-9]{0,3}$ ]]; then
  echo "--batch: '$batch' is not a number of ports" >&2
  exit 2
fi
if [ ${#patches[@]} -eq 0 ]; then
  mapfile -t patches < <(find "$folder" -maxdepth 1 -name '*.json-patch' -o -maxdepth 1 -name '*.json-direct' | sort)
fi
if [ "$verb" = rollback ]; then  # last applied, first back
  mapfile -t patches < <(printf '%s\n' "${patches[@]}" | sort -r)
fi

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
guard() { python3 "$here/guard.py" "$@"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
running=$work/running.json
read_running() { as_root sonic-cfggen -d --print-data >"$running"; }

# Writes a patch; rows of tables that this release's updater refuses go in and out of the database.
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
    echo "there is no patch $(basename "$patch") in $folder" >&2
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
  # A later patch of this run may remove what earlier ones still refer to: those states come first.
  state=$(guard state "$patch" "$running" 2>"$work/why")
  if [ $? -ne 0 ] && ! { grep -q ': still the ' "$work/why" && [ ${#todo[@]} -gt 0 ]; }; then
    cat "$work/why" >&2
    echo "refused: rows of $(basename "$patch") are neither as imported nor as planned" >&2
    exit 3
  fi
  if [ "$state" != after ]; then todo+=("$patch"$'\t'"$ports"); fi
done <"$work/list"
if [ ${#todo[@]} -eq 0 ]; then
  echo "nothing to do: every row is as this $verb leaves it"
  exit 0
fi
if [ -n "$dry" ]; then
  # Later patches refer to rows of the first, so only that one can be tried without applying it.
  for step in "${todo[@]}"; do echo "would $verb: $(basename "${step%%$'\t'*}") ${step#*$'\t'}"; done
  first=${todo[0]%%$'\t'*}
  if [[ $first == *.json-direct* ]]; then exit 0; fi
  as_root config apply-patch --dry-run "$first" || exit 4
  exit 0
fi

# Takes this run's rows back, and no others; the last one first.
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

checkpoint=dlcp-$verb-$(date +%Y%m%d-%H%M%S)
as_root config checkpoint "$checkpoint" || exit 4
drained=
done=()
for step in "${todo[@]}"; do
  patch=${step%%$'\t'*}
  ports=${step#*$'\t'}
  if [ -n "$drain" ] && [ -z "$drained" ] && [ -n "$ports" ]; then
    as_root TSA || exit 4
    drained=yes
  fi
  echo "$verb: $(basename "$patch") $ports"
  done+=("$patch")
  read_running && guard state "$patch" "$running" >/dev/null && write_patch "$patch" && continue
  echo "$(basename "$patch") was refused; taking this run's own rows back" >&2
  if take_back; then
    if [ -n "$drained" ]; then as_root TSB; fi
    exit 4
  fi
  echo "some rows could not be taken back: compare with checkpoint $checkpoint (config rollback" \
    "$checkpoint would also undo what others changed since)${drained:+; the switch is still drained: TSB}" >&2
  exit 5
done
if [ -n "$drained" ]; then as_root TSB || exit 4; fi
echo "done; checkpoint $checkpoint. Keep it over a reboot with: config save -y"
