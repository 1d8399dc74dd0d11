"""Layouts in which the network drops packets by their DSCP or ECN field, as some clouds and middleboxes do."""

from layouts import Case, ipv6, layout, one_subnet_each, two_hosts


def dropped_marks(name, rule, hosts="ab", version=4, verdict="drop"):
    """A layout in which UDP packets to which `rule` applies do not arrive at these hosts. Packets without marks do."""
    def build(net):
        two_hosts(net)
        if version == 4:
            one_subnet_each(net, 1)
        else:
            ipv6(net, "2001:db8")
        for host in hosts:
            net.nft(host, "table inet f {\n chain in {\n  type filter hook input priority 0\n"
                          f"  meta l4proto udp {rule} {verdict}\n }}\n}}\n")
        return Case("10.1.0.1" if version == 4 else "2001:db8::1", env={"DLCP_PEER_TIMEOUT": "8", "NCCL_DEBUG": "WARN"},
                    says=("without marks", "DSCP", "doctor --peer"))
    build.__name__ = name
    layout(build)


dropped_marks("network_drops_the_dscp_of_control", "ip dscp 40")
dropped_marks("network_drops_the_dscp_of_control_to_one_host", "ip dscp 40", "b")
dropped_marks("network_drops_the_dscp_of_control_to_the_other_host", "ip dscp 40", "a")
dropped_marks("network_drops_the_dscp_of_data", "ip dscp 18")
dropped_marks("network_drops_the_dscp_of_data_to_one_host", "ip dscp 18", "b")
dropped_marks("network_drops_all_dscps", "ip dscp != 0")
dropped_marks("network_drops_ecn", "ip ecn != not-ect")
dropped_marks("network_drops_ecn_to_one_host", "ip ecn != not-ect", "b")
dropped_marks("network_drops_ecn_to_the_other_host", "ip ecn != not-ect", "a")
dropped_marks("network_drops_ipv6_dscps_and_ecn", "ip6 dscp != 0", version=6)
dropped_marks("firewall_rejects_dscps", "ip dscp != 0", verdict="reject with icmpx type admin-prohibited")
