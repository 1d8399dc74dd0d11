# Sourced by guest_init.sh for --roce N: N hosts with a Soft-RoCE device each, joined by a bridge.
#
# The hosts are in the root namespace, because the stock kernel's rdma_rxe supports no other; the switch is in its
# own namespace. Packets from host A to host B's address would take a shortcut through loopback: rules per port,
# placed before the table "local", send them out of A's port instead, and accept_local accepts them at B's.
# Neighbours are static, so that no test waits for, or counts, an ARP packet. A host is its own neighbour too, because
# the same rules send packets to its own address out of its port (devices test themselves that way).
# shellcheck shell=bash disable=SC2154  # $roce and $mtu come from guest_init.sh
mac() { printf 02:00:00:4d:00:%02x "$1"; }

switch_commands() {
  local i
  echo "link set lo up"
  echo "link add br0 mtu $mtu type bridge mcast_snooping 0"
  echo "link set br0 up"
  for ((i = 1; i <= roce; i++)); do
    echo "link add p$i mtu $mtu type veth peer name r$i netns 1 mtu $mtu address $(mac $i)"
    echo "link set p$i master br0 up"
  done
}

host_commands() {
  local i j
  echo "rule add pref 1000 lookup local"
  echo "rule del pref 0"
  for ((i = 1; i <= roce; i++)); do
    echo "link set r$i up"
    echo "addr add 10.77.0.$i/24 dev r$i"
    echo "route add 10.77.0.0/24 dev r$i src 10.77.0.$i table $((1000 + i))"
    echo "rule add pref $i oif r$i lookup $((1000 + i))"
    for ((j = 1; j <= roce; j++)); do
      echo "neigh replace 10.77.0.$j dev r$i lladdr $(mac $j) nud permanent"
    done
  done
}

load veth bridge ib_uverbs rdma_ucm rdma_rxe
sysctl -qw net.ipv4.conf.{all,default}.{rp_filter=0,accept_local=1,arp_ignore=1,arp_announce=2}
ip netns add sw
ip netns exec sw sysctl -qw net.ipv6.conf.{all,default}.disable_ipv6=1
switch_commands | ip -n sw -batch - || say "the switch failed"
host_commands | ip -batch - || say "the host ports failed"
for ((i = 1; i <= roce; i++)); do
  rdma link add "rxe$i" type rxe netdev "r$i" || say "rxe$i failed"
done
