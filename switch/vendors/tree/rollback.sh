#!/bin/bash
# Takes DLCP's rows out again, and only those: bash rollback.sh [--dry-run] SWITCH [PATCH...]
# Rows that DLCP replaced get their imported content back. Refuses when one has changed since.
exec bash "$(dirname "$0")/apply.sh" --rollback "$@"
