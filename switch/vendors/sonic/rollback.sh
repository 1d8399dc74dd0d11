#!/bin/bash
# Removes DLCP's rows, and only those: bash rollback.sh [--dry-run] [PATCH...]
# Rows that DLCP replaced get their imported contents again. Refuses if one has changed since then.
exec bash "$(dirname "$0")/apply.sh" --rollback "$@"
