#!/bin/bash
# Applies this folder's change to an Arista EOS switch; a second time it does nothing.
#
#   bash apply.sh [--dry-run] SWITCH [PATCH...]      SWITCH: as ssh takes it, admin@leaf1
#   bash apply.sh --rollback [--dry-run] SWITCH [PATCH...]
#
# PATCH is a name without suffix, such as 20-ports-01-host: apply one group of ports as the canary.
# Nothing is applied if a row that a patch touches is not as it was imported, or if EOS calls a line an
# error: everything goes through one configure session, whose diff is shown and which EOS takes back by
# itself unless it is confirmed within ten minutes. What EOS made of it is kept in applied/ for the
# rollback. DLCP_RUN replaces "ssh SWITCH": a command that reads CLI lines and prints what EOS answers.
# Exit: 0 done or nothing to do, 2 usage, 3 a row has drifted, 4 EOS refused.
set -u

here=$(cd "$(dirname "$0")" && pwd)
folder=$here
dry=
verb=apply
words=()
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry=1 ;;
    --rollback) folder=$here/rollback verb=rollback ;;
    -*) words=(); break ;;
    *) words+=("$1") ;;
  esac
  shift
done
if [ ${#words[@]} -eq 0 ]; then
  sed -n '2,14s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
switch=${words[0]}
patches=("${words[@]:1}")
if [ ${#patches[@]} -eq 0 ]; then
  mapfile -t patches < <(basename -a -s .json "$here"/guard/*.json)
fi
if [ "$verb" = rollback ]; then  # last applied, first back
  mapfile -t patches < <(printf '%s\n' "${patches[@]}" | sort -r)
fi

run() { if [ -n "${DLCP_RUN:-}" ]; then $DLCP_RUN; else ssh -T "$switch"; fi; }
show() { printf 'enable\nterminal length 0\nshow running-config\n' | run; }

running=$(mktemp)
lines=$(mktemp)
trap 'rm -f "$running" "$lines"' EXIT
show >"$running" || exit 4
from=before
if [ "$verb" = rollback ]; then from=after; fi
todo=()
for patch in "${patches[@]}"; do
  applied=()
  if [ -e "$here/applied/$patch.txt" ]; then applied=("$here/applied/$patch.txt"); fi
  state=$(python3 "$here/guard.py" "$here/guard/$patch.json" "$running" "${applied[@]}") || {
    echo "refused: rows of $patch are neither as imported nor as applied" >&2
    exit 3
  }
  if [ "$state" = "$from" ]; then todo+=("$patch"); fi
done
if [ ${#todo[@]} -eq 0 ]; then
  echo "nothing to do: every row is as this $verb leaves it"
  exit 0
fi

session=dlcp-$verb-$(date +%s)
cli_lines() { grep -v '^!' "$1/$2.eos" | grep -v '^ *!$'; }

# The way back must be known to work before the way out is taken: both go through a session that is
# dropped.
if [ "$verb" = apply ]; then
  {
    printf 'enable\nterminal length 0\nconfigure session %s-try\n' "$session"
    for patch in "${todo[@]}"; do cli_lines "$folder" "$patch"; done
    for ((at = ${#todo[@]} - 1; at >= 0; --at)); do cli_lines "$here/rollback" "${todo[at]}"; done
    printf 'end\nconfigure session %s-try abort\n' "$session"
  } >"$lines"
  answer=$(run <"$lines") || exit 4
  if grep -q '^ *% ' <<<"$answer"; then
    printf '%s\n' "$answer"
    echo "refused by EOS (change and rollback were only tried); nothing is applied" >&2
    exit 4
  fi
fi
{
  printf 'enable\nterminal length 0\nconfigure session %s\n' "$session"
  for patch in "${todo[@]}"; do
    echo "$verb: $patch" >&2
    cli_lines "$folder" "$patch"
  done
  printf 'show session-config diffs\nend\n'
} >"$lines"
answer=$(run <"$lines") || exit 4
printf '%s\n' "$answer"
if grep -q '^ *% ' <<<"$answer"; then
  echo "refused by EOS; the session is dropped, nothing is applied" >&2
  printf 'enable\nconfigure session %s abort\n' "$session" | run
  exit 4
fi
if [ -n "$dry" ]; then
  printf 'enable\nconfigure session %s abort\n' "$session" | run
  exit 0
fi
printf 'enable\nconfigure session %s commit timer 00:10:00\n' "$session" | run || exit 4
show >"$running" || exit 4
mkdir -p "$here/applied"
for patch in "${todo[@]}"; do
  if [ "$verb" = apply ]; then cp "$running" "$here/applied/$patch.txt"; else rm -f "$here/applied/$patch.txt"; fi
done
echo "committed for ten minutes; check, then keep it with: configure session $session commit; write"
