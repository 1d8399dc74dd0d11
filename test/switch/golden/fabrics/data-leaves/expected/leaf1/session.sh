# What apply.sh says to Nokia SR Linux.
suffix=srl
abort='enter candidate exclusive name dlcp
discard now'
begin='enter candidate exclusive name dlcp'
check='commit validate
diff'
commit='enter candidate exclusive name dlcp
commit confirmed timeout 600'
error='^(Error|Parsing error|Schema error|All changes have NOT)'
keep='tools system configuration confirmed-accept; save startup'
show='info flat from running /'
