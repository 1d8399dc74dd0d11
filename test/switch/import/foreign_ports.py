#!/usr/bin/env python3
"""Settings of ports in other places of foreign configurations: speeds by chassis slot, by module or by name, and
policies of subinterfaces and VLANs. Each is imported correctly, or refused with a message that says what to do.

usage: foreign_ports.py DLCP_SWITCH [-v]"""

import json
import pathlib
import re
import sys
import unittest

import foreign
from foreign import Checks
from foreign_more import of

XR_INTERFACES = "Cisco-IOS-XR-um-interface-cfg:interfaces"
XR_POLICIES = "Cisco-IOS-XR-um-if-service-policy-qos-cfg:service-policy"
XR_BUNDLE = "Cisco-IOS-XR-um-if-bundle-cfg:bundle"
OTHER_SPEED = "the intent states that "


class Ports(Checks):
    # Speeds.
    def test_junos_speeds_of_the_chassis(self):
        text, options = of("junos")
        slot = "set chassis fpc 0 pic 0 "
        for line in ("port 0 speed 100g", "pic-mode 100G"):
            self.refused(text + slot + line + "\n", OTHER_SPEED + "et-0/0/0 has 400 Gb/s, but running says 100 Gb/s", "add `speed: 100G`",
                         **options)
        self.planned(text + slot + "port 0 speed 400g\n" + slot + "pic-mode 100G\n", **options)
        self.planned(text + slot + "port 1 speed 100g\n", **options)
        self.planned(text + slot + "port 0 speed 100g\nset interfaces et-0/0/0 speed 400g\n", **options)
        self.refused(text + slot + "port-range 0 3 channel-speed 25g\n", "a range of ports", "write the statements out for each port", **options)

    def test_junos_ports_that_are_split(self):
        text, options = of("junos")
        text = text.replace("et-0/0/0 ", "et-0/0/0:2 ") + "set chassis fpc 0 pic 0 port 0 channel-speed 100g\n"
        options["ports"] = ("et-0/0/0:2",)
        self.refused(text, OTHER_SPEED + "et-0/0/0:2 has 400 Gb/s, but running says 100 Gb/s", **options)
        self.planned(text, speed="100G", **options)

    def test_nxos_ports_that_are_split(self):
        text, options = of("nxos")
        text = text.replace("interface Ethernet1/1\n", "interface breakout module 1 port 1-4 map 100g-4x\ninterface Ethernet1/1/2\n")
        text = text.replace("  speed 400000\n", "")
        options["ports"] = ("Ethernet1/1/2",)
        self.refused(text, OTHER_SPEED + "Ethernet1/1/2 has 400 Gb/s, but running says 100 Gb/s", **options)
        self.planned(text, speed="100G", **options)

    def test_srlinux_ports_that_are_split(self):
        text, options = of("srlinux")
        lines = [line for line in text.splitlines(True) if "port-speed" not in line]
        text = re.sub(r"ethernet-1/1(?=[ .\n])", "ethernet-1/1/3", "".join(lines))
        text += "set / interface ethernet-1/1 breakout-mode channel-speed 100G\n"
        self.refused(text, OTHER_SPEED + "ethernet-1/1/3 has 400 Gb/s, but running says 100 Gb/s",
                     **{**options, "ports": ("ethernet-1/1/3",)})

    def test_names_that_imply_the_speed(self):
        text, options = of("iosxr")
        self.refused(text, OTHER_SPEED + "FourHundredGigE0/0/0/0 has 100 Gb/s, but running says 400 Gb/s", speed="100G", **options)
        text, options = of("junos")
        self.refused(text.replace("et-0/0/0 ", "xe-0/0/0 "), OTHER_SPEED + "xe-0/0/0 has 400 Gb/s, but running says 10 Gb/s",
                     **{**options, "ports": ("xe-0/0/0",)})

    # Policies of subinterfaces, and of the aggregates and VLANs that contain ports.
    def test_policies_of_subinterfaces(self):
        text, options = of("nxos")
        policy = "interface Ethernet{}.10\n  service-policy type qos input SITE-IN\n"
        self.refused(text + policy.format("1/1"), "port Ethernet1/1 has policies on a subinterface", "leave the port out", **options)
        self.planned(text + policy.format("1/9"), **options)
        text, options = of("eos")
        for line, what in (("service-policy type qos input P", "a policy on a subinterface"),
                           ("service-profile STORAGE", "a service-profile on a subinterface"), ("shape rate 10 gbps", "a shaped subinterface")):
            self.refused(text.replace("\nend\n", f"\ninterface Ethernet1/1.10\n   {line}\n!\nend\n"), what, "leave the port out", **options)
        text, options = of("iosxr")
        tree = json.loads(text)
        ports = tree[XR_INTERFACES]["interface"]
        ports.append({"interface-name": "FourHundredGigE0/0/0/0.100", XR_POLICIES: ports[0][XR_POLICIES]})
        self.refused(tree, "has policies on a subinterface", "leave the port out", **options)
        ports[-1]["interface-name"] = "FourHundredGigE0/0/0/7.100"
        self.planned(tree, **options)

    def test_policies_of_subinterfaces_of_aggregates(self):
        text, options = of("iosxr")
        tree = json.loads(text)
        ports = tree[XR_INTERFACES]["interface"]
        ports.append({"interface-name": "Bundle-Ether1.100", XR_POLICIES: ports[0][XR_POLICIES]})
        ports[0][XR_BUNDLE] = {"id": {"bundle-id": 1}}
        self.refused(tree, "in a bundle that has policies", "leave the bundle's members out", **options)
        ports[0][XR_BUNDLE]["id"]["bundle-id"] = 2
        self.planned(tree, **options)

    def test_policies_of_vlans(self):
        text, options = of("eos")
        self.refused(text.replace("\nend\n", "\ninterface Vlan10\n   service-policy type qos input P\n!\nend\n"),
                     "policy P on VLAN 10 classifies packets on ingress", "remove it from the VLAN interface", **options)
        text, options = of("nxos")
        self.refused(text + "interface Vlan10\n  service-policy type qos input SITE-IN\n", "attached to VLAN 10", "attach it to ports",
                     **options)


if __name__ == "__main__":
    foreign.PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    sys.dont_write_bytecode = True
    unittest.main()
