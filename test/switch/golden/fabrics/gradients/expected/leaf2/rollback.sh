(as switch/vendors/tree/rollback.sh)
