#!/bin/bash
# Applies this folder's change on the SONiC switch where it runs; a second time it does nothing.
#
#   bash apply.sh [--dry-run] [PATCH...]        default: all patches, in their order
#   bash apply.sh --rollback [--dry-run] [PATCH...]
#
# Nothing is applied if a row that a patch touches is not as it was imported. Definitions touch no
# port; every 20-ports patch takes its ports down for a moment, so name one as the canary first.
# A checkpoint is taken before the first patch and restored if a patch fails.
# Exit: 0 done or nothing to do, 2 usage, 3 a row has drifted, 4 GCU refused.
set -u

here=$(cd "$(dirname "$0")" && pwd)
folder=$here
dry=
verb=apply
patches=()
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry=--dry-run ;;
    --rollback) folder=$here/rollback verb=rollback ;;
    -*) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) patches+=("$folder/$(basename "$1")") ;;
  esac
  shift
done
if [ ${#patches[@]} -eq 0 ]; then
  patches=("$folder"/*.json-patch)
fi
if [ "$verb" = rollback ]; then  # last applied, first back
  mapfile -t patches < <(printf '%s\n' "${patches[@]}" | sort -r)
fi

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

running=$(mktemp)
trap 'rm -f "$running"' EXIT
as_root sonic-cfggen -d --print-data >"$running" || exit 4
todo=()
for patch in "${patches[@]}"; do
  state=$(python3 "$here/guard.py" "$patch" "$running") || {
    echo "refused: rows of $(basename "$patch") are neither as imported nor as planned" >&2
    exit 3
  }
  if [ "$state" = before ]; then todo+=("$patch"); fi
done
if [ ${#todo[@]} -eq 0 ]; then
  echo "nothing to do: every row is as this $verb leaves it"
  exit 0
fi
if [ -n "$dry" ]; then
  # Later patches refer to rows of the first, so only that one can be tried without applying it.
  echo "would $verb: $(basename -a "${todo[@]}" | tr '\n' ' ')"
  as_root config apply-patch --dry-run "${todo[0]}" || exit 4
  exit 0
fi
checkpoint=dlcp-$verb-$(date +%Y%m%d-%H%M%S)
as_root config checkpoint "$checkpoint" || exit 4
for patch in "${todo[@]}"; do
  echo "$verb: $(basename "$patch")"
  if ! as_root config apply-patch "$patch"; then
    echo "refused by GCU; going back to checkpoint $checkpoint" >&2
    as_root config rollback "$checkpoint"
    exit 4
  fi
done
echo "done; checkpoint $checkpoint. Keep it over a reboot with: config save -y"
