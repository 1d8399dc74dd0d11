(as switch/vendors/sonic/rollback.sh)
