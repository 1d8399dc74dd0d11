(as switch/vendors/eos/apply.sh)
