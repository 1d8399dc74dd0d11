#!/bin/bash
# Applies this folder's change to the Cumulus Linux switch on which it runs. A second run changes nothing.
#
#   bash apply.sh [--dry-run] [PATCH...]        default: all patches, in order
#   bash apply.sh --rollback [--dry-run] [PATCH...]
#
# PATCH is a name without suffix, such as 20-ports-01-host: apply one group of ports as the canary.
# Nothing is applied if a setting of a patch differs from the imported one. NVUE reverts the change by
# itself unless `nv config apply --confirm-yes` follows within ten minutes.
# Exit: 0 done or nothing to do, 2 usage, 3 a setting has drifted, 4 NVUE refused.
set -u

here=$(cd "$(dirname "$0")" && pwd)
folder=$here
dry=
verb=apply
patches=()
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry=1 ;;
    --rollback) folder=$here/rollback verb=rollback ;;
    -*) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) patches+=("$1") ;;
  esac
  shift
done
if [ ${#patches[@]} -eq 0 ]; then
  mapfile -t patches < <(basename -a -s .json "$here"/guard/*.json)
fi
if [ "$verb" = rollback ]; then  # in reverse order
  mapfile -t patches < <(printf '%s\n' "${patches[@]}" | sort -r)
fi

running=$(mktemp)
trap 'rm -f "$running"' EXIT
nv config show >"$running" || exit 4
# Pending changes, of any user, would be applied together with this change.
pending=$(nv config diff) || exit 4
if [ -n "$(tr -d '[:space:]{}[]' <<<"$pending")" ]; then
  printf '%s\n' "$pending" >&2
  echo "refused: other changes are pending; apply them, or drop them with: nv config detach" >&2
  exit 4
fi
from=before
if [ "$verb" = rollback ]; then from=after; fi
todo=()
for patch in "${patches[@]}"; do
  state=$(python3 "$here/guard.py" "$here/guard/$patch.json" "$running") || {
    echo "refused: settings of $patch match neither the imported nor the planned configuration" >&2
    exit 3
  }
  if [ "$state" = "$from" ]; then todo+=("$patch"); fi
done
if [ ${#todo[@]} -eq 0 ]; then
  echo "nothing to do: every setting already has the state after this $verb"
  exit 0
fi

fail() {
  echo "NVUE refused the change; nothing was applied" >&2
  nv config detach
  exit 4
}
for patch in "${todo[@]}"; do
  echo "$verb: $patch"
  if [ -e "$folder/$patch.unset" ]; then
    while read -r -a path; do
      nv unset "${path[@]}" </dev/null || fail
    done <"$folder/$patch.unset"
  fi
  if [ -e "$folder/$patch.yaml" ]; then nv config patch "$folder/$patch.yaml" || fail; fi
done
nv config diff
if [ -n "$dry" ]; then
  nv config detach
  exit 0
fi
nv config apply --confirm 600s -y || fail
echo "applied; check the switch, then keep the change with: nv config apply --confirm-yes && nv config save"
