(as switch/vendors/eos/guard.py)
