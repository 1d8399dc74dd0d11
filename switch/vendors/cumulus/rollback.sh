#!/bin/bash
# Removes DLCP's settings, and only those: bash rollback.sh [--dry-run] [PATCH...]
# Ports get their imported profiles again. Refuses if a setting of a patch has changed since then.
exec bash "$(dirname "$0")/apply.sh" --rollback "$@"
