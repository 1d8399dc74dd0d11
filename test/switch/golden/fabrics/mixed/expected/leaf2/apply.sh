(as switch/vendors/cumulus/apply.sh)
