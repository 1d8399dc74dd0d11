# What apply.sh says to OpenConfig over gNMI.
suffix=gnmi.json
gnmi='/qos'
