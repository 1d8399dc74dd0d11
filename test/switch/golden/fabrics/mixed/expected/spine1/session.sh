# What apply.sh says to Arista EOS.
suffix=eos
abort='enable
configure session {id} abort'
begin='enable
terminal length 0
configure session {id}'
check='show session-config diffs
end'
commit='enable
configure session {id} commit timer 00:10:00'
drop='end'
error='^ *% '
keep='configure session {id} commit; write (until then EOS takes it back by itself within ten minutes)'
remembers='1'
show='enable
terminal length 0
show running-config'
tries='1'
