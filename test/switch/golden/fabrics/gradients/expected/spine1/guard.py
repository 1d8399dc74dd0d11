(as switch/vendors/sonic/guard.py)
