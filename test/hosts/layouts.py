"""The layouts of two hosts, a and b, that test_hosts.py runs. Each function builds its network and returns a Case."""

import dataclasses


@dataclasses.dataclass
class Case:
    meet: str                     # where the ranks meet: an address of host a
    env: dict = dataclasses.field(default_factory=dict)     # of both ranks
    options: tuple = ()           # of dlcp bench
    seconds: float = 0.2          # of transfer
    meanwhile: object = None      # called once the ranks send data
    check: object = None          # called after DLCP has run; returns an error text, or None
    refused_with: tuple = ()      # DLCP cannot work here: words that its error must contain
    says: tuple = ()              # words that the log must contain although DLCP works
    timeout: int = 25
    wrap: tuple = ()              # command in front of each rank
    wrap_b: tuple = ()            # command in front of the rank on host b alone


LAYOUTS = []


def layout(function):
    LAYOUTS.append(function)
    return function


def two_hosts(net, cards=1, mtu=1500):
    """Hosts a and b; their cards ethN are connected to a switch sN each."""
    net.host("a", "b")
    for card in range(cards):
        net.switch(f"s{card}")
        for host in "ab":
            net.plug(host, f"eth{card}", f"s{card}", mtu)


def number(host):
    return 1 if host == "a" else 2


def one_subnet_each(net, cards):
    for host in "ab":
        for card in range(cards):
            net.addr(host, f"10.1.{card}.{number(host)}/24", f"eth{card}")


def ipv6(net, prefix):
    for host in "ab":
        net.addr(host, f"{prefix}::{number(host)}/64", "eth0")


def usual(net, cards=1, **case):
    """Two hosts with one subnet for each card."""
    two_hosts(net, cards)
    one_subnet_each(net, cards)
    return Case("10.1.0.1", **case)


@layout
def one_card_ipv4(net):
    return usual(net)


@layout
def one_card_ipv6(net):
    two_hosts(net)
    ipv6(net, "2001:db8")
    return Case("2001:db8::1")


@layout
def one_card_unique_local_ipv6(net):
    two_hosts(net)
    ipv6(net, "fd00")
    return Case("fd00::1")


@layout
def dual_stack(net):
    two_hosts(net)
    one_subnet_each(net, 1)
    ipv6(net, "2001:db8")
    return Case("10.1.0.1")


@layout
def dual_stack_and_ipv6_alone(net):
    two_hosts(net)
    net.addr("a", "10.1.0.1/24", "eth0")
    ipv6(net, "2001:db8")
    return Case("2001:db8::1", options=("--mode", "bw"), env={"NCCL_SOCKET_FAMILY": "AF_INET6"})


@layout
def family_by_nccl_socket_family(net):
    two_hosts(net)
    net.addr("a", "10.65.0.1/24", "eth0")
    net.addr("b", "10.66.0.2/24", "eth0")
    ipv6(net, "fd00:65")
    return Case("fd00:65::1", env={"NCCL_SOCKET_FAMILY": "AF_INET6"})


@layout
def deprecated_address_first(net):
    two_hosts(net)
    for host in "ab":
        net.addr(host, f"2001:db8:1::{number(host)}/64", "eth0", "preferred_lft", "0")
        net.addr(host, f"2001:db8:2::{number(host)}/64", "eth0")
    return Case("2001:db8:2::1")


@layout
def two_cards_two_subnets(net):
    return usual(net, 2, options=("--device-by-rank",))


@layout
def four_cards(net):
    return usual(net, 4)


@layout
def two_cards_one_subnet(net):
    net.host("a", "b")
    net.switch("s")
    for host in "ab":
        for card in range(2):
            net.plug(host, f"eth{card}", "s")
            net.addr(host, f"10.1.0.{10 * number(host) + card}/24", f"eth{card}")

    def check():
        first, second = net.sent("a", "eth0"), net.sent("a", "eth1")
        return None if second > first else f"eth0 sent {first} bytes, eth1 {second}"
    return Case("10.1.0.10", env={"DLCP_IFNAME": "=eth1"}, check=check)


@layout
def second_card_of_a_subnet_strict_filter(net):
    net.host("a", "b")
    net.switch("s", "t")
    for host in "ab":
        for card, switch in enumerate("st"):
            net.plug(host, f"eth{card}", switch)
            net.addr(host, f"10.1.0.{10 * number(host) + card}/24", f"eth{card}")
        for name in ("all", "eth0", "eth1"):
            net.sysctl(host, **{f"ipv4__conf__{name}__rp_filter": 1})
    return Case("10.1.0.10", env={"NCCL_SOCKET_IFNAME": "=eth1"})


@layout
def cards_in_another_order_strict_filter(net):
    net.host("a", "b")
    net.switch("s", "t")
    for host, order in (("a", "st"), ("b", "ts")):
        for card, switch in enumerate(order):
            net.plug(host, f"eth{card}", switch)
            net.addr(host, f"10.{61 if switch == 's' else 62}.0.{number(host)}/24", f"eth{card}")
        net.sysctl(host, ipv4__conf__all__rp_filter=1)
    return Case("10.61.0.1")


@layout
def one_rail_dead(net):
    two_hosts(net, 2)
    one_subnet_each(net, 2)
    for host in "ab":
        net.ip("s1", "link", "set", f"{host}.eth1", "nomaster")
    return Case("10.1.0.1", options=("--device-by-rank",))


def filtered_rails(name, cards, host, filtered, verdict):
    """A layout whose `host` filters UDP that arrives on some of its cards."""
    def build(net):
        two_hosts(net, cards)
        one_subnet_each(net, cards)
        for card in filtered:
            net.nft(host, f"table inet f{card} {{\n chain in {{\n  type filter hook input priority 0\n"
                          f"  iifname eth{card} meta l4proto udp {verdict}\n }}\n}}\n")
        return Case("10.1.0.1", options=("--device-by-rank",))
    build.__name__ = name
    layout(build)


filtered_rails("one_rail_drops_udp", 2, "b", [1], "drop")
filtered_rails("one_rail_dead_in_one_direction", 2, "a", [1], "drop")
filtered_rails("four_rails_of_which_one_works", 4, "a", [0, 1, 2], "drop")
filtered_rails("one_rail_rejects_udp", 2, "b", [1], "reject")


@layout
def link_local_ipv4_port(net):
    two_hosts(net)
    one_subnet_each(net, 1)
    net.host("m")
    for host in "ab":
        net.wire(host, "bmc0", "m", f"w{host}")
        net.addr(host, f"169.254.3.{number(host)}/24", "bmc0")
    return Case("10.1.0.1", options=("--device-by-rank",))


@layout
def link_local_ipv6_port(net):
    net.host("a", "b", "m")
    net.switch("s")
    for host in "ab":
        net.wire(host, "usb0", "m", f"u{host}")
        net.plug(host, "eth0", "s")
    one_subnet_each(net, 1)
    return Case("10.1.0.1", options=("--device-by-rank",))


def bridges_of_containers(name, *bridges):
    """A layout in which both hosts have the same bridges with the same addresses, besides their card."""
    def build(net):
        net.host("a", "b")
        net.switch("s")
        for host in "ab":
            for index, (bridge, address) in enumerate(bridges):
                net.link(host, bridge, "type", "bridge")
                net.link(host, f"veth{index}", "type", "dummy")
                net.ip(host, "link", "set", f"veth{index}", "master", bridge)
                net.addr(host, address, bridge)
            net.plug(host, "eth0", "s")
        one_subnet_each(net, 1)
        return Case("10.1.0.1", options=("--device-by-rank",))
    build.__name__ = name
    layout(build)


bridges_of_containers("same_docker_bridge_on_both_hosts", ("docker0", "172.17.0.1/16"))
bridges_of_containers("bridges_of_containers", ("br-12ab34cd", "172.18.0.1/16"), ("virbr0", "172.19.0.1/16"),
                      ("cni0", "172.20.0.1/16"))


@layout
def address_on_a_bridge_with_the_card(net):
    two_hosts(net)
    for host in "ab":
        net.link(host, "br0", "type", "bridge")
        net.ip(host, "link", "set", "eth0", "master", "br0")
        net.addr(host, f"10.1.0.{number(host)}/24", "br0")
    return Case("10.1.0.1")


@layout
def bond(net):
    net.host("a", "b")
    for host in "ab":
        net.link(host, "bond0", "type", "bond", "mode", "active-backup", "miimon", "100")
    for card in range(2):
        net.ip("a", "link", "add", f"eth{card}", "type", "veth", "peer", "name", f"eth{card}", "netns", net.name("b"))
        for host in "ab":
            net.ip(host, "link", "set", f"eth{card}", "master", "bond0")
            net.ip(host, "link", "set", f"eth{card}", "up")
    for host in "ab":
        net.addr(host, f"10.1.0.{number(host)}/24", "bond0")
    return Case("10.1.0.1")


def over_eth0(net, name, *definition):
    two_hosts(net)
    for host in "ab":
        net.link(host, name, "link", "eth0", *definition)
        net.addr(host, f"10.2.0.{number(host)}/24", name)
    return Case("10.2.0.1")


@layout
def vlan(net):
    return over_eth0(net, "eth0.7", "type", "vlan", "id", "7")


@layout
def macvlan(net):
    return over_eth0(net, "mac0", "type", "macvlan", "mode", "bridge")


@layout
def ipvlan(net):
    return over_eth0(net, "ipv0", "type", "ipvlan", "mode", "l2")


def tunnel(net, name, mtu, kind, *definition):
    """A tunnel between the hosts' cards; the cards are not configured for the job."""
    two_hosts(net)
    one_subnet_each(net, 1)
    for host, other in ("ab", "ba"):
        net.ip(host, "link", "add", "name", name, "type", kind, *definition, "local", f"10.1.0.{number(host)}", "remote",
               f"10.1.0.{number(other)}")
        net.ip(host, "link", "set", name, "mtu", mtu, "up")
        net.addr(host, f"10.3.0.{number(host)}/24", name)
    return Case("10.3.0.1", env={"NCCL_SOCKET_IFNAME": f"={name}"})


@layout
def vxlan(net):
    return tunnel(net, "vx0", 1450, "vxlan", "id", "9", "dstport", "4789")


@layout
def vxlan_with_the_mtu_of_the_card(net):
    return tunnel(net, "vx0", 1500, "vxlan", "id", "9", "dstport", "4789", "df", "set")


@layout
def ipip(net):
    return tunnel(net, "tun1", 1480, "ipip")


@layout
def gre(net):
    return tunnel(net, "gre1", 1476, "gre")


@layout
def vrf(net):
    two_hosts(net)
    for host in "ab":
        net.link(host, "blue", "type", "vrf", "table", "100")
        net.ip(host, "link", "set", "eth0", "master", "blue")
        net.addr(host, f"10.1.0.{number(host)}/24", "eth0")
    net.host("m")
    for host in "ab":
        net.wire(host, "eth9", "m", f"m{host}")
    net.link("m", "br0", "type", "bridge")
    for host in "ab":
        net.ip("m", "link", "set", "dev", f"m{host}", "master", "br0")
        net.addr(host, f"10.9.0.{number(host)}/24", "eth9")
    return Case("10.9.0.1", env={"NCCL_SOCKET_IFNAME": "=eth0"})


def unnumbered(net, device, addresses, more=()):
    """Two uplinks with only link-local IPv6 addresses, and routes to the peer's address over both."""
    net.host("a", "b")
    for uplink in ("up0", "up1"):
        net.wire("a", uplink, "b", uplink)
    for host, address in zip("ab", addresses):
        if device != "lo":
            net.link(host, device, "type", "dummy")
        net.addr(host, address, device)
        net.sysctl(host, ipv4__fib_multipath_hash_policy=1)
    plain = [address.split("/")[0] for address in addresses]
    for host, other, own, peer in (("a", "b", plain[0], plain[1]), ("b", "a", plain[1], plain[0])):
        hops = []
        for uplink in ("up0", "up1"):
            via = net.link_local(other, uplink)
            hops += ["nexthop", "via", *(["inet6"] if ":" not in peer else []), via, "dev", uplink]
        net.route(host, peer, "src", own, *hops)
    return Case(plain[0], **dict(more))


@layout
def routed_to_the_host(net):
    case = unnumbered(net, "lo", ("10.64.0.1/32", "10.64.0.2/32"))

    def check():
        sent = [net.sent("a", uplink) for uplink in ("up0", "up1")]
        return None if min(sent) > 100_000 else f"the uplinks sent {sent} bytes"
    case.check = check
    return case


@layout
def routed_to_the_host_lo_named(net):
    return unnumbered(net, "lo", ("10.64.0.1/32", "10.64.0.2/32"), {"env": {"NCCL_SOCKET_IFNAME": "lo"}}.items())


@layout
def routed_to_the_host_ipv6(net):
    return unnumbered(net, "lo", ("fd64::1/128", "fd64::2/128"))


@layout
def routed_to_a_dummy_link(net):
    return unnumbered(net, "dummy0", ("10.64.0.1/32", "10.64.0.2/32"))


@layout
def address_label(net):
    two_hosts(net)
    for host in "ab":
        net.addr(host, f"10.1.0.{number(host)}/24", "eth0", "label", "eth0:1")
    return Case("10.1.0.1")


def behind_a_router(net, mtu=1500):
    net.host("a", "b", "r")
    for host in "ab":
        net.wire(host, "eth0", "r", host, mtu if host == "b" else 1500)
        net.addr(host, f"10.{number(host)}.0.2/24", "eth0")
        net.addr("r", f"10.{number(host)}.0.1/24", host)
        net.route(host, "default", "via", f"10.{number(host)}.0.1")
    net.sysctl("r", ipv4__ip_forward=1)


@layout
def through_a_router(net):
    behind_a_router(net)
    return Case("10.1.0.2")


@layout
def small_mtu_behind_the_router(net):
    behind_a_router(net)
    net.ip("r", "link", "set", "dev", "b", "mtu", "1400")
    return Case("10.1.0.2")


@layout
def mtu_black_hole(net):
    behind_a_router(net)
    net.ip("r", "link", "set", "dev", "b", "mtu", "1400")
    for host in "ab":
        net.sysctl(host, ipv4__tcp_mtu_probing=2)  # for TCP, and for the rendezvous of the ranks
    net.nft("r", "table ip f {\n chain out {\n  type filter hook output priority 0\n  icmp type destination-unreachable drop\n }\n}\n")
    return Case("10.1.0.2")


@layout
def two_default_routes(net):
    net.host("a", "b", "r")
    net.sysctl("r", ipv4__ip_forward=1)
    for host in "ab":
        for card in range(2):
            net.wire(host, f"eth{card}", "r", f"{host}{card}")
            subnet = f"10.{number(host)}{card}.0"
            net.addr(host, f"{subnet}.2/24", f"eth{card}")
            net.addr("r", f"{subnet}.1/24", f"{host}{card}")
            net.route(host, "default", "via", f"{subnet}.1", "metric", str(100 + card))

    def check():
        first, second = net.sent("a", "eth0"), net.sent("a", "eth1")
        return None if second > first else f"eth0 sent {first} bytes, eth1 {second}"
    return Case("10.10.0.2", env={"DLCP_IFNAME": "=eth1"}, check=check)


@layout
def point_to_point_addresses(net):
    net.host("a", "b")
    net.wire("a", "eth0", "b", "eth0")
    net.ip("a", "addr", "add", "10.1.0.1", "peer", "10.1.0.2", "dev", "eth0")
    net.ip("b", "addr", "add", "10.1.0.2", "peer", "10.1.0.1", "dev", "eth0")
    return Case("10.1.0.1")


@layout
def nothing_but_link_local_ipv4(net):
    net.host("a", "b")
    net.wire("a", "eth0", "b", "eth0")
    for host in "ab":
        net.addr(host, f"169.254.7.{number(host)}/16", "eth0")
    return Case("169.254.7.1")


def filtered(net, verdict, words):
    two_hosts(net)
    one_subnet_each(net, 1)
    net.nft("b", "table inet f {\n chain in {\n  type filter hook input priority 0\n"
                 f"  udp dport 49152-65535 {verdict}\n }}\n}}\n")
    return Case("10.1.0.1", env={"DLCP_PEER_TIMEOUT": "4"}, refused_with=words)


@layout
def firewall_rejects(net):
    return filtered(net, "reject", ("firewall", "49152", "port unreachable"))


@layout
def firewall_prohibits(net):
    return filtered(net, "reject with icmpx type admin-prohibited", ("firewall", "49152", "prohibited"))


@layout
def firewall_drops(net):
    return filtered(net, "drop", ("doctor --peer",))


def silent_answers(words):
    """Host b receives, but its kernel refuses its answers. Its own log must give the reason."""
    return Case("10.1.0.1", env={"DLCP_PEER_TIMEOUT": "4", "NCCL_DEBUG": "INFO"}, refused_with=words)


@layout
def output_filter_of_the_side_that_answers(net):
    two_hosts(net)
    one_subnet_each(net, 1)
    net.nft("b", "table inet f {\n chain out {\n  type filter hook output priority 0\n  meta l4proto udp drop\n }\n}\n")
    return silent_answers(("cannot send to 10.1.0.1", "packet filter rejects outgoing packets"))


@layout
def routing_rule_of_the_side_that_answers(net):
    rule_for_udp(net, "b", "unreachable", ())
    return silent_answers(("cannot send to 10.1.0.1", "no route to 10.1.0.1"))


@layout
def nat_in_one_direction(net):
    behind_a_router(net)
    net.nft("r", "table ip n {\n chain out {\n  type nat hook postrouting priority 100\n  oifname b masquerade\n }\n}\n")
    return Case("10.1.0.2", env={"DLCP_PEER_TIMEOUT": "4"}, refused_with=("NAT",))


def rule_for_udp(net, host, route, words):
    two_hosts(net)
    one_subnet_each(net, 1)
    net.ip(host, "rule", "add", "ipproto", "udp", "lookup", "204")
    net.ip(host, "route", "add", route, "default", "table", "204")
    return Case("10.1.0.1", env={"DLCP_PEER_TIMEOUT": "4"}, refused_with=words)


@layout
def routing_rule_that_prohibits_udp(net):
    return rule_for_udp(net, "a", "prohibit", ("kernel forbids outgoing packets", "`ip rule`"))


@layout
def routing_rule_that_drops_udp(net):
    return rule_for_udp(net, "a", "blackhole", ("no route to 10.1.0.2", "`ip rule`"))


@layout
def routing_rule_without_a_route_for_udp(net):
    return rule_for_udp(net, "a", "unreachable", ("no route to 10.1.0.2", "`ip rule`"))
