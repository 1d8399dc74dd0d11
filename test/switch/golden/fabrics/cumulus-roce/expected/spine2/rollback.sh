(as switch/vendors/cumulus/rollback.sh)
