(as switch/vendors/sonic/apply.sh)
