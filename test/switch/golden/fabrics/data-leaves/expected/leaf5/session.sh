# What apply.sh says to Arrcus ArcOS.
suffix=gnmi.json
gnmi='/qos /interfaces'
