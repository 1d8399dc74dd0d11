(as switch/vendors/tree/apply.sh)
