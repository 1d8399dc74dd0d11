# What apply.sh says to Cisco NX-OS (Nexus 9000).
suffix=nxos
abort='rollback running-config checkpoint dlcp atomic
no checkpoint dlcp'
begin='terminal length 0
checkpoint dlcp
configure terminal'
check='end
show diff rollback-patch checkpoint dlcp running-config'
error='^(%|ERROR|Error| *\^$)'
keep='copy running-config startup-config; no checkpoint dlcp (until then: rollback running-config checkpoint dlcp)'
show='terminal length 0
show running-config ipqos
show running-config interface
show running-config | include ^ip.load-sharing'
