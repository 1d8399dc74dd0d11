"""Layouts whose oddity lies in what surrounds the processes: kernels, containers, limits, proxies. Most are start-up
problems from public issue trackers."""

import dataclasses
import pathlib
import sys

from layouts import (Case, cards_in_another_order_strict_filter, layout, number, one_rail_dead, one_subnet_each,
                     two_cards_one_subnet, two_hosts, usual)

HERE = pathlib.Path(__file__).resolve().parent
UNPRIVILEGED = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
                "--no-new-privs")
AF_INET6, AF_NETLINK = 10, 16
BUNDLE = {"DLCP_BUNDLE": "1", "DLCP_LANES": "2"}
# Options that gVisor and older kernels lack: discovery of the path MTU, reports of errors and drops, binding to a device,
# timestamps, segmentation offload and coalescing. Level and name, as numbers.
SANDBOX = ("0.10", "41.23", "0.11", "41.25", "1.40", "1.25", "1.35", "17.103", "17.104")


def refusing(*arguments):
    return (sys.executable, str(HERE / "refuse.py"), *arguments, "--")


def sandbox():
    return refusing(*(word for option in SANDBOX for word in ("--option", option)))


def in_shell(script):
    """Runs the rank after these lines of shell, in a mount namespace of its own."""
    return ("unshare", "-m", "sh", "-c", f'{script}\nexec "$@"', "sh")


@layout
def process_without_privileges(net):
    return usual(net, wrap=UNPRIVILEGED)


@layout
def two_cards_one_subnet_without_privileges(net):
    return dataclasses.replace(two_cards_one_subnet(net), wrap=UNPRIVILEGED)


@layout
def sandbox_that_refuses_socket_options(net):
    return usual(net, wrap=sandbox())


@layout
def sandbox_on_one_host(net):
    two_hosts(net, mtu=9000)
    one_subnet_each(net, 1)
    return Case("10.1.0.1", wrap_b=sandbox())


@layout
def sandbox_behind_a_small_mtu(net):
    two_hosts(net)
    for host in "ab":
        net.ip("s0", "link", "set", "dev", f"{host}.eth0", "mtu", "1400")
    one_subnet_each(net, 1)
    for host in "ab":  # TCP would need probing here as well
        net.sysctl(host, ipv4__tcp_mtu_probing=2)
    return Case("10.1.0.1", wrap=sandbox())


@layout
def kernel_without_ipv6_on_one_host(net):
    return usual(net, wrap_b=refusing("--family", str(AF_INET6)))


@layout
def ipv6_switched_off(net):
    two_hosts(net)
    for host in "ab":
        net.sysctl(host, ipv6__conf__all__disable_ipv6=1)
    one_subnet_each(net, 1)
    return Case("10.1.0.1")


@layout
def sandbox_without_netlink(net):
    return usual(net, wrap=refusing("--family", str(AF_NETLINK)), refused_with=("interfaces", "AF_NETLINK"))


@layout
def sandbox_without_timers(net):
    return usual(net, wrap=refusing("--call", "timerfd_create=EPERM"),
                 refused_with=("helper thread of a device: Operation not permitted", "timerfd"))


@layout
def sandbox_without_recvmmsg(net):
    return usual(net, wrap=refusing("--call", "recvmmsg=ENOSYS"), refused_with=("recvmmsg", "seccomp"))


@layout
def few_open_files(net):
    return usual(net, wrap=("prlimit", "--nofile=48", "--"))


@layout
def full_shared_memory(net):
    return usual(net, wrap=in_shell("mount -t tmpfs -o size=4k tmpfs /dev/shm\nhead -c 4096 /dev/zero >/dev/shm/full"))


@layout
def read_only_container_without_home(net):
    return usual(net, wrap=in_shell("mount --bind / /mnt; mount -o remount,bind,ro /\n"
                                     "mount -t tmpfs -o ro tmpfs /tmp; mount -t tmpfs -o ro tmpfs /dev/shm\n"
                                     "mount -t tmpfs -o ro tmpfs /run\nunset HOME USER TMPDIR XDG_RUNTIME_DIR"))


@layout
def container_without_sys(net):
    return usual(net, 2, wrap=in_shell("umount -l /sys; mount -t tmpfs tmpfs /proc/sys"))


@layout
def one_processor(net):
    return usual(net, wrap=("taskset", "-c", "0"))


@layout
def pod_addresses_with_a_gateway_of_no_subnet(net):
    net.host("a", "b", "r", "m")
    net.sysctl("r", ipv4__ip_forward=1)
    net.wire("r", "up0", "m", "up0")
    net.addr("r", "10.9.0.1/24", "up0")
    net.route("r", "default", "via", "10.9.0.2")  # so that it answers ARP requests for any address
    for host in "ab":
        net.wire(host, "eth0", "r", f"cali{host}")
        net.addr(host, f"10.244.{number(host)}.7/32", "eth0")
        net.route(host, "169.254.1.1", "dev", "eth0", "scope", "link")
        net.route(host, "default", "via", "169.254.1.1", "dev", "eth0")
        net.route("r", f"10.244.{number(host)}.7", "dev", f"cali{host}", "scope", "link")
        net.sysctl("r", **{f"ipv4__conf__cali{host}__proxy_arp": 1})
    return Case("10.244.1.7")


@layout
def card_without_a_cable(net):
    two_hosts(net, 2)
    one_subnet_each(net, 2)
    for host in "ab":
        net.ip("s0", "link", "set", "dev", f"{host}.eth0", "down")
    return Case("10.1.1.1", options=("--device-by-rank",))


@layout
def card_without_a_cable_on_one_host(net):
    two_hosts(net, 2)
    one_subnet_each(net, 2)
    net.ip("s0", "link", "set", "dev", "b.eth0", "down")
    return Case("10.1.1.1", options=("--device-by-rank",))


@layout
def cards_have_other_names(net):
    net.host("a", "b")
    net.switch("s", "m")
    for host, name in (("a", "eno1"), ("b", "enp4s0")):
        net.plug(host, "aux0", "m")
        net.plug(host, name, "s")
        net.addr(host, f"10.9.0.{number(host)}/24", "aux0")
        net.addr(host, f"10.1.0.{number(host)}/24", name)
    return Case("10.1.0.1", env={"NCCL_SOCKET_IFNAME": "eno1,enp4s0"})


@layout
def one_host_without_a_network(net):
    net.host("a")
    net.same["b"] = "a"
    return Case("127.0.0.1")


@layout
def few_local_ports(net):
    two_hosts(net)
    one_subnet_each(net, 1)
    for host in "ab":
        net.sysctl(host, ipv4__ip_local_port_range="60000 60063")
    return Case("10.1.0.1")


@layout
def large_frames_on_one_host(net):
    net.host("a", "b")
    net.switch("s")
    net.plug("a", "eth0", "s", 9000)
    net.plug("b", "eth0", "s", 1500)
    one_subnet_each(net, 1)
    for host in "ab":
        net.sysctl(host, ipv4__tcp_mtu_probing=1)
    return Case("10.1.0.1")


@layout
def private_network_of_no_peers_first(net):
    net.host("a", "b", "m")
    net.switch("s")
    for host in "ab":
        net.wire(host, "tailscale0", "m", f"t{host}", 1280)
        net.addr(host, f"100.64.0.{number(host)}/32", "tailscale0")
        net.plug(host, "eth0", "s")
    one_subnet_each(net, 1)
    return Case("10.1.0.1", options=("--device-by-rank",))


@layout
def many_interfaces_of_containers(net):
    two_hosts(net)
    one_subnet_each(net, 1)
    net.host("m")
    for host in "ab":
        for index in range(100):
            net.wire(host, f"cali{index:04x}", "m", f"{host}{index}")
    return Case("10.1.0.1", options=("--device-by-rank",))


@layout
def proxy_in_front_of_all_tcp(net):
    two_hosts(net)
    one_subnet_each(net, 1)
    for host in "ab":
        net.nft(host, "table ip mesh {\n chain out {\n  type nat hook output priority -100\n"
                      "  meta l4proto tcp meta mark != 7 ip daddr != 127.0.0.1 redirect to :15001\n }\n}\n")
        net.background(host, sys.executable, HERE / "proxy.py", "15001", "7")
    return Case("10.1.0.1")


@layout
def one_rail_dead_for_a_bundle(net):
    return dataclasses.replace(one_rail_dead(net), env=BUNDLE)


@layout
def cards_in_another_order_for_a_bundle(net):
    return dataclasses.replace(cards_in_another_order_strict_filter(net), env=BUNDLE)


@layout
def one_rail_dead_for_direct_exchange(net):
    return dataclasses.replace(one_rail_dead(net), options=("--mode", "allreduce", "--algo", "direct", "--device-by-rank"))
