"""Hosts, switches and links as network namespaces: the parts of the layouts of test_hosts.py."""

import subprocess


class Unsupported(RuntimeError):
    """This machine's kernel lacks a feature that a layout needs."""


def run(*command, check=True):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise Unsupported(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


class Network:
    """The namespaces of one layout; all of them are removed on exit."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.spaces = []
        self.ports = []     # of hosts: (host, port)
        self.same = {}      # name of a host: the host that it stands for
        self.sent_before = {}
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()
        for space in self.spaces:
            run("ip", "netns", "del", space, check=False)

    def name(self, host):
        return self.prefix + self.same.get(host, host)

    def _space(self, host):
        run("ip", "netns", "add", self.name(host))
        self.spaces.append(self.name(host))

    def ip(self, host, *arguments, check=True):
        return run("ip", "-n", self.name(host), *arguments, check=check)

    def on(self, host, *command, check=True):
        return run("ip", "netns", "exec", self.name(host), *command, check=check)

    def background(self, host, *command):
        """Starts a program that prints a line when it is ready; it ends with the layout."""
        process = subprocess.Popen(["ip", "netns", "exec", self.name(host), *map(str, command)], stdout=subprocess.PIPE)
        self.processes.append(process)
        process.stdout.readline()

    def sysctl(self, host, **settings):
        for name, value in settings.items():
            self.on(host, "sysctl", "-qw", f"net.{name.replace('__', '.')}={value}")

    def host(self, *hosts):
        for host in hosts:
            self._space(host)
            self.ip(host, "link", "set", "lo", "up")
            # Addresses are usable at once.
            self.sysctl(host, ipv6__conf__all__accept_dad=0, ipv6__conf__default__accept_dad=0)

    def switch(self, *switches):
        for switch in switches:
            self._space(switch)
            self.ip(switch, "link", "add", "name", "br0", "type", "bridge")
            self.ip(switch, "link", "set", "br0", "up")

    def plug(self, host, port, switch, mtu=1500):
        """A link from the host's port to a switch."""
        there = f"{host}.{port}"
        self.ports.append((host, port))
        self.ip(host, "link", "add", port, "mtu", mtu, "type", "veth", "peer", "name", there, "mtu", mtu, "netns",
                self.name(switch))
        self.ip(host, "link", "set", "dev", port, "up")
        self.ip(switch, "link", "set", there, "master", "br0", "up")

    def wire(self, host, port, other, other_port, mtu=1500):
        self.ports += [(host, port), (other, other_port)]
        self.ip(host, "link", "add", port, "mtu", mtu, "type", "veth", "peer", "name", other_port, "mtu", mtu, "netns",
                self.name(other))
        self.ip(host, "link", "set", "dev", port, "up")
        self.ip(other, "link", "set", "dev", other_port, "up")

    def link(self, host, name, *definition):
        self.ip(host, "link", "add", "name", name, *definition)
        self.ip(host, "link", "set", name, "up")

    def addr(self, host, address, port, *more):
        self.ip(host, "addr", "add", address, "dev", port, *more)

    def route(self, host, *route):
        self.ip(host, "route", "add", *route)

    def link_local(self, host, port):
        """Its fe80:: address, without the prefix length."""
        for line in self.ip(host, "-6", "-o", "addr", "show", "dev", port, "scope", "link").splitlines():
            return line.split()[3].split("/")[0]
        raise Unsupported(f"{port} has no link-local address")

    def nft(self, host, rules):
        done = subprocess.run(["ip", "netns", "exec", self.name(host), "nft", "-f", "-"], input=rules, text=True,
                              capture_output=True, check=False)
        if done.returncode:
            raise Unsupported(f"nft: {done.stderr.strip()}")

    def _sent(self, host, port):
        return int(self.on(host, "cat", f"/sys/class/net/{port}/statistics/tx_bytes"))

    def sent_by(self, host, *ports):
        """Bytes that each of these ports has sent since it was created."""
        files = [f"/sys/class/net/{port}/statistics/tx_bytes" for port in ports]
        return [int(sent) for sent in self.on(host, "cat", *files).split()]

    def count_from_now(self):
        """sent() does not count bytes sent before."""
        self.sent_before = {port: self._sent(*port) for port in self.ports}

    def sent(self, host, port):
        return self._sent(host, port) - self.sent_before.get((host, port), 0)
