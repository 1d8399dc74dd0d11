# What apply.sh says to Juniper Junos (QFX).
suffix=set
abort='configure
rollback 0
exit'
begin='configure'
check='show | compare | no-more
commit check
exit'
commit='configure
commit confirmed 10
exit'
error='^(error:|unknown command|syntax error|.*missing mandatory)'
keep='configure; commit'
pending='configure
show | compare | no-more
exit'
show='show configuration class-of-service | display set | no-more
show configuration interfaces | display set | no-more
show configuration chassis | display set | no-more
show configuration forwarding-options | display set | no-more'
