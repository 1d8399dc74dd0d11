"""Layouts with two cards per host and a default route through each; in some, a card changes while data flows."""

import time

from layouts import Case, layout, number


def two_routed_cards(net, source=()):
    """Cards eth0 and eth1 of both hosts lead to a router. The first default route is preferred."""
    net.host("a", "b", "r")
    net.sysctl("r", ipv4__ip_forward=1)
    for host in "ab":
        for card in range(2):
            net.wire(host, f"eth{card}", "r", f"{host}{card}")
            net.addr("r", f"10.{number(host)}{card}.0.1/24", f"{host}{card}")
            net.addr(host, f"10.{number(host)}{card}.0.2/24", f"eth{card}")
        if source:
            net.addr(host, f"10.255.0.{number(host)}/32", "lo")
            net.route("r", f"10.255.0.{number(host)}", "nexthop", "via", f"10.{number(host)}0.0.2", "nexthop", "via",
                      f"10.{number(host)}1.0.2")
        for card in range(2):
            route(net, host, card, *(("src", f"10.255.0.{number(host)}") if source else ()))


def route(net, host, card, *more):
    net.route(host, "default", "via", f"10.{number(host)}{card}.0.1", "metric", str(100 + card), *more)


def transfer(meanwhile, **more):
    """A transfer over eth1 during which `meanwhile` happens."""
    return Case("10.10.0.2", env={"NCCL_SOCKET_IFNAME": "=eth1", "DLCP_PEER_TIMEOUT": "5"},
                seconds=6, meanwhile=meanwhile, **more)


@layout
def two_default_routes_with_a_preferred_source(net):
    two_routed_cards(net, source=True)
    return Case("10.10.0.2", env={"NCCL_SOCKET_IFNAME": "=eth1", "DLCP_PEER_TIMEOUT": "5"})


@layout
def second_address_of_a_card_with_another_default_route(net):
    two_routed_cards(net)
    for host in "ab":  # the first address of eth1 is not that of the gateway's subnet
        net.ip(host, "addr", "flush", "dev", "eth1", "scope", "global")
        net.addr(host, f"10.99.{number(host)}.7/24", "eth1")
        net.addr(host, f"10.{number(host)}1.0.2/24", "eth1")
        net.route("r", f"10.99.{number(host)}.0/24", "dev", f"{host}1")
        route(net, host, 1)
    return Case("10.10.0.2", env={"NCCL_SOCKET_IFNAME": "=eth1", "DLCP_PEER_TIMEOUT": "5"})


@layout
def card_is_created_again(net):
    two_routed_cards(net)

    def recreate():
        net.ip("a", "link", "del", "eth1")
        net.wire("a", "eth1", "r", "a1")
        net.addr("r", "10.11.0.1/24", "a1")
        net.addr("a", "10.11.0.2/24", "eth1")
        route(net, "a", 1)
    return transfer(recreate)


@layout
def card_is_down_for_a_moment(net):
    two_routed_cards(net)
    windows = []    # of 0.5 s each: the bytes that eth0 and eth1 send

    def flap():
        net.ip("a", "link", "set", "eth1", "down")
        time.sleep(0.5)
        net.ip("a", "link", "set", "eth1", "up")
        route(net, "a", 1)
        windows.clear()
        while len(windows) < 8 and not is_back():
            before = net.sent_by("a", "eth0", "eth1")
            time.sleep(0.5)
            windows.append([now - then for now, then in zip(net.sent_by("a", "eth0", "eth1"), before)])

    def is_back():
        return any(second > max(first, 10_000) for first, second in windows)

    def check():
        return None if is_back() else f"afterwards eth0 and eth1 send {windows} bytes"
    return transfer(flap, check=check)
