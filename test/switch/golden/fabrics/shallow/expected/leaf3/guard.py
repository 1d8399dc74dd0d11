(as switch/vendors/tree/guard.py)
