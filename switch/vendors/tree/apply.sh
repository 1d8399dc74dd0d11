#!/bin/bash
# Applies this folder's change to a switch. A second run changes nothing.
#
#   bash apply.sh [--dry-run] SWITCH [PATCH...]      SWITCH: destination of ssh (gNMI: ADDRESS:PORT)
#   bash apply.sh --rollback [--dry-run] SWITCH [PATCH...]
#   bash apply.sh --confirm SWITCH      ends the timer of the last change or rollback (NX-OS: deletes checkpoints)
#
# PATCH is a name without suffix, such as 20-ports-01-host: apply one group of ports as the canary.
# Nothing is applied if a row of a patch differs from the imported one, if another change is pending, or if
# the switch reports an error for a line. A dry run discards its session; on systems without sessions it
# only prints the lines. session.sh has the commands for the switch. If the switch rewrites statements, the
# resulting text is kept in applied/ for the rollback. DLCP_RUN replaces "ssh SWITCH": a command that reads
# CLI lines and prints the answers. DLCP_GNMIC replaces "gnmic".
# Exit: 0 done or nothing to do, 2 usage, 3 a row has drifted, 4 the switch has refused or is busy, 5 (gNMI) the change
# is not reverted, or the switch cannot be read after it.
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
    --confirm) verb=confirm ;;
    -*) words=(); break ;;
    *) words+=("$1") ;;
  esac
  shift
done
if [ ${#words[@]} -eq 0 ]; then
  sed -n '2,15s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
switch=${words[0]}
patches=("${words[@]:1}")
if [ ${#patches[@]} -eq 0 ]; then
  mapfile -t patches < <(basename -a -s .json "$here"/guard/*.json)
fi
if [ "$verb" = rollback ]; then  # in reverse order
  mapfile -t patches < <(printf '%s\n' "${patches[@]}" | sort -r)
fi

suffix='' show='' pending='' prepare='' begin='' check='' abort='' forget='' commit='' timer='' confirm='' error=''
keep='' gnmi='' tries='' drop='' remembers='' list=''
. "$here/session.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
id=dlcp-$verb-$(date +%s%2N)  # of the session or checkpoint, if the switch names them
said() { printf '%s\n' "${1//\{id\}/$id}"; }
run() { if [ -n "${DLCP_RUN:-}" ]; then $DLCP_RUN; else ssh -T "$switch"; fi; }
gnmic_() { ${DLCP_GNMIC:-gnmic} -a "$switch" "$@"; }
show_running() {
  if [ -n "$gnmi" ]; then
    local path paths=()
    for path in $gnmi; do paths+=(--path "$path"); done
    gnmic_ get "${paths[@]}" --type config --encoding json_ietf
  else printf '%s\n' "$show" | run; fi
}

is_error() { grep -qE "$error" "$1"; }

refuse_if_pending() {  # a commit would also apply the pending changes of others
  [ -n "$pending" ] || return 0
  printf '%s\n' "$pending" | run >"$work/pending" || exit 4
  # Junos marks added and removed lines with + and -, deactivated and moved ones with !.
  if grep -qE '^ *[-+!] ' "$work/pending"; then
    cat "$work/pending" >&2
    echo "refused: other changes are pending in the candidate configuration" >&2
    exit 4
  fi
}

# Discards the session, or restores the checkpoint. A checkpoint is deleted only after it was restored.
reverted=yes
revert() {
  if said "$abort" | run >"$work/answer" && ! is_error "$work/answer"; then
    cat "$work/answer"
    if [ -n "$forget" ]; then said "$forget" | run; fi
    echo "the session was reverted" >&2
  else
    reverted=no
    cat "$work/answer"
    echo "the session could not be reverted. Look at the switch's configuration, then enter there:" >&2
    said "$abort" >&2
  fi
}
give_up() { echo "$1" >&2; revert; exit 4; }

state_of() {  # PATCH: prints "before" or "after"; else prints "extra" or "drift" and returns 3
  local applied=()
  if [ -e "$here/applied/$1.txt" ]; then applied=("$here/applied/$1.txt"); fi
  python3 "$here/guard.py" "$here/guard/$1.json" "$work/running" "${applied[@]}"
}

# --confirm confirms the sessions or checkpoints in this file: with timers, the session of the last commit; without
# timers, all checkpoints since the last --confirm, and `expected` has a line "STATE PATCH" for each patch of these runs.
unconfirmed=$here/applied/session
expected=$here/applied/states
has_expired() { [ -n "$timer" ] && [ -n "$(find "$unconfirmed" -mmin "+$timer" 2>/dev/null)" ]; }
if [ "$verb" = confirm ]; then
  if [ ! -e "$unconfirmed" ]; then echo "nothing to confirm"; exit 0; fi
  if has_expired; then
    echo "the timer of $timer minutes has expired. Unless someone confirmed the change on the switch itself, the" \
      "switch has reverted it. Run apply.sh or rollback.sh again" >&2
    exit 4
  fi
  refuse_if_pending
  for id in $(<"$unconfirmed"); do said "$confirm"; done | run >"$work/answer" || exit 4
  cat "$work/answer"
  # Someone, or a reload of the switch, may have deleted some checkpoints already. Those that the switch still lists
  # stay recorded, so that the next --confirm tries to delete them again.
  if is_error "$work/answer" && [ -n "$list" ]; then
    said "$list" | run >"$work/list" || exit 4
    if is_error "$work/list"; then cat "$work/list" >&2; exit 4; fi
    grep -owFf "$unconfirmed" "$work/list" | sort -u >"$work/left"
    if [ ! -s "$work/left" ]; then
      echo "the checkpoints no longer exist on the switch" >&2
      # A reload also reverts a change that was not saved, so check that the last change is still in effect.
      show_running >"$work/running" || exit 4
      lost=
      while read -r state patch; do
        if [ "$(state_of "$patch" 2>"$work/why")" != "$state" ]; then lost+=" $patch"; fi
      done < <(awk '{ last[$2] = $1 } END { for (patch in last) print last[patch], patch }' "$expected")
      rm -f "$unconfirmed" "$expected"
      if [ -z "$lost" ]; then exit 0; fi
      echo "these patches no longer have the state of the last change:$lost. The switch may have been reloaded before" \
        "the change was saved: run apply.sh or rollback.sh again" >&2
      exit 4
    fi
    cp "$work/left" "$unconfirmed" || exit 4
    echo "the switch has not deleted: $(paste -sd ' ' "$work/left")" >&2
    exit 4
  fi
  if is_error "$work/answer"; then
    echo "the switch refused to confirm the change: it may have reverted it, so run apply.sh or rollback.sh again" >&2
    exit 4
  fi
  rm -f "$unconfirmed" "$expected"
  exit 0
fi

show_running >"$work/running" || exit 4
from=before to=after
if [ "$verb" = rollback ]; then from=after to=before; fi
todo=()
for patch in "${patches[@]}"; do
  if [ ! -e "$here/guard/$patch.json" ]; then echo "$here has no patch $patch" >&2; exit 2; fi
  state=$(state_of "$patch") || {
    echo "refused: rows of $patch match neither the imported nor the planned configuration" >&2
    exit 3
  }
  if [ "$state" = "$from" ]; then todo+=("$patch"); fi
done
if [ ${#todo[@]} -eq 0 ]; then
  if has_expired; then rm -f "$unconfirmed"; fi
  echo "nothing to do: every row already has the state after this $verb"
  exit 0
fi

# gNMI: each patch is one Set, which is a transaction of its own. Nothing has to be confirmed later. After all Sets the
# script reads the configuration to check their result.
send() { gnmic_ set --request-file "$1/$2.$suffix"; }  # FOLDER PATCH
# Reads the configuration again. Returns 0 if all patches of this run have STATE, 1 if some have another state (they are
# printed), 2 if the switch cannot be read. A patch with additional statements has the state "after" and is listed in
# `extra`.
have_state() {  # STATE
  local patch state tries=3 status=0
  until show_running >"$work/running"; do
    tries=$((tries - 1))
    if [ $tries = 0 ]; then return 2; fi
    sleep 5
  done
  for patch in "${todo[@]}"; do
    state=$(state_of "$patch" 2>"$work/$patch.rows")
    if [ -z "$state" ]; then return 2; fi
    if [ "$state" = "$1" ]; then continue; fi
    if [ "$1 $state" = "after extra" ]; then extra+=("$patch"); continue; fi
    status=1
    case $state in
      after) echo "  $patch is applied" >&2 ;;
      before) echo "  $patch is not applied" >&2 ;;
      *) echo "  $patch is applied in part: compare its rows with guard/$patch.json" >&2 ;;
    esac
  done
  return $status
}
if [ -n "$gnmi" ]; then
  for patch in "${todo[@]}"; do
    echo "$verb: $patch"
    if [ -n "$dry" ]; then cat "$folder/$patch.$suffix"; fi
  done
  if [ -n "$dry" ]; then exit 0; fi
  sent=() extra=() failed='' interrupted=''
  trap 'interrupted=yes' INT TERM HUP
  trap '' PIPE
  for patch in "${todo[@]}"; do
    if [ -n "$interrupted" ]; then break; fi
    if [ "$verb" = apply ]; then rm -f "$here/applied/$patch.txt"; fi
    sent+=("$patch")
    send "$folder" "$patch" || { failed="the Set of $patch failed"; break; }
  done
  if [ -n "$interrupted" ]; then failed=interrupted; fi
  trap '' INT TERM HUP
  have_state "$to" 2>"$work/why"
  state=$?
  if [ $state = 0 ] && [ -z "$interrupted" ]; then
    if [ "$verb" = rollback ]; then
      for patch in "${todo[@]}"; do rm -f "$here/applied/$patch.txt"; done
    fi
    for patch in "${extra[@]}"; do  # the text that the rollback expects
      echo "warning: the switch has added statements to those of $patch:" >&2
      cat "$work/$patch.rows" >&2
      mkdir -p "$here/applied" && cp "$work/running" "$here/applied/$patch.txt" || exit 5
    done
    exit 0
  fi
  if [ $state = 2 ] && [ -z "$failed" ]; then
    echo "the switch has accepted every Set, but its configuration cannot be read. Nothing was reverted. Run this" \
      "command again when the switch answers: it says whether anything is left to do" >&2
    exit 5
  fi
  echo "${failed:-the switch has accepted every Set, but does not have the planned configuration}; the state is now:" >&2
  if [ $state = 2 ]; then echo "  unknown: the switch's configuration cannot be read" >&2; fi
  cat "$work/why" >&2
  if [ "$verb" = rollback ]; then
    echo "run rollback.sh again for these patches" >&2
    exit 4
  fi
  echo "reverting this run" >&2
  for ((at = ${#sent[@]} - 1; at >= 0; --at)); do send "$here/rollback" "${sent[at]}"; done
  if have_state before; then
    echo "reverted: the switch has its previous configuration" >&2
    exit 4
  fi
  echo "not everything was reverted: run rollback.sh, or correct these rows by hand" >&2
  exit 5
fi

lines() { grep -v '^[!#]' "$1/$2.$suffix" | grep -v '^ *!$'; }
if [ -n "$dry" ] && [ -z "$commit" ]; then  # without a session, lines take effect at once
  for patch in "${todo[@]}"; do
    echo "would $verb: $patch"
    lines "$folder" "$patch"
  done
  exit 0
fi
refuse_if_pending
# If the switch has sessions, the change and its rollback are first tried in a session that is discarded. So the script
# knows that the rollback will be accepted.
if [ -n "$tries" ] && [ "$verb" = apply ]; then
  id=$id-try
  {
    said "$begin"
    for patch in "${todo[@]}"; do lines "$folder" "$patch"; done
    for ((at = ${#todo[@]} - 1; at >= 0; --at)); do lines "$here/rollback" "${todo[at]}"; done
    said "$drop"
    said "$abort"
  } >"$work/lines"
  id=${id%-try}
  run <"$work/lines" >"$work/answer" || exit 4
  if is_error "$work/answer"; then
    cat "$work/answer"
    echo "the switch refused the change or its rollback in a trial session; nothing was applied" >&2
    exit 4
  fi
fi
if [ -n "$prepare" ]; then
  if ! said "$prepare" | run >"$work/answer" || is_error "$work/answer"; then
    cat "$work/answer"
    echo "the switch refused: $(said "$prepare"); nothing was applied" >&2
    exit 4
  fi
fi
{
  said "$begin"
  for patch in "${todo[@]}"; do
    echo "$verb: $patch" >&2
    lines "$folder" "$patch"
  done
  said "$check"
} >"$work/lines"
run <"$work/lines" >"$work/answer"
ended=$?
cat "$work/answer"
if is_error "$work/answer"; then give_up "the switch refused the change"; fi
if [ $ended -ne 0 ]; then give_up "the connection ended early, with exit code $ended"; fi
if [ -n "$dry" ]; then revert; [ "$reverted" = yes ] || exit 4; exit 0; fi
if [ -n "$commit" ]; then
  said "$commit" | run >"$work/answer" || exit 4
  cat "$work/answer"
  if is_error "$work/answer"; then give_up "the switch refused the commit"; fi
fi
# Answers without an error do not prove that the change is in effect: a shell may have read the lines instead of the
# switch's CLI, or the candidate was empty. So the script reads the configuration again.
unproven() {
  echo "$1" >&2
  if [ -z "$commit" ]; then revert; else echo "not confirmed: the switch reverts it after $timer minutes" >&2; fi
  exit 4
}
show_running >"$work/running" || unproven "the switch's configuration cannot be read after the change"
for patch in "${todo[@]}"; do
  state=$(state_of "$patch" 2>"$work/why")
  if [ "$state" = "$to" ]; then continue; fi
  # The switch may have rewritten the planned statements. A rollback restores text that the switch has printed itself,
  # so there the rows must be equal.
  if [ -n "$remembers" ] && [ "$verb" = apply ] && [ -n "$state" ] && [ "$state" != "$from" ]; then continue; fi
  cat "$work/why" >&2
  unproven "$verb of $patch has not taken effect as planned: the switch's rows are in the state '$state'"
done
if [ -n "$confirm" ]; then
  mkdir -p "$here/applied" || exit 4
  if [ -n "$timer" ]; then rm -f "$unconfirmed"; else printf "$to %s\n" "${todo[@]}" >>"$expected"; fi
  echo "$id" >>"$unconfirmed" || exit 4
fi
if [ -n "$remembers" ]; then
  mkdir -p "$here/applied"
  for patch in "${todo[@]}"; do
    if [ "$verb" = apply ]; then cp "$work/running" "$here/applied/$patch.txt"; else rm -f "$here/applied/$patch.txt"; fi
  done
fi
echo "done; check the switch, then keep the change with: $(said "$keep")"
