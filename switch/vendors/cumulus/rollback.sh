#!/bin/bash
# Takes DLCP's settings out again, and only those: bash rollback.sh [--dry-run] [PATCH...]
# Ports get back the profiles they had when imported. Refuses when a touched setting has changed since.
exec bash "$(dirname "$0")/apply.sh" --rollback "$@"
