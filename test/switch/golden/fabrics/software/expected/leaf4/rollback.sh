#!/bin/bash
# Takes DLCP's queues away and puts back what was there before.
exec "$(dirname "$0")/dlcp-qos.sh" rollback
