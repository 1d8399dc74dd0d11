(as switch/vendors/sonic/persist.py)
