# What apply.sh says to Cisco IOS XR (8000 series).
suffix=gnmi.json
gnmi='/Cisco-IOS-XR-um-policymap-classmap-cfg:class-map /Cisco-IOS-XR-um-policymap-classmap-cfg:policy-map /Cisco-IOS-XR-um-interface-cfg:interfaces'
