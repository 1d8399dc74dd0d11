(as switch/vendors/eos/rollback.sh)
