(as switch/vendors/cumulus/guard.py)
