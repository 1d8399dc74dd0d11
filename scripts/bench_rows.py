"""The networks and rows of scripts/bench."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Net:
    hosts: int
    settings: tuple


NETS = {
    "lo": Net(1, ("cc=cubic",)),
    "veth": Net(2, ("mtu=1500", "offload=on", "cc=cubic")),
    "cut4200": Net(4, ("mtu=4200", "offload=seggro", "cc=cubic")),
    "loss1": Net(4, ("mtu=1500", "offload=seggro", "cc=cubic", "loss=10000")),
    "loss01": Net(2, ("mtu=1500", "offload=seggro", "cc=cubic", "loss=1000")),
    "port200": Net(4, ("mtu=1500", "offload=seggro", "cc=cubic", "rate=200mbit", "queue=64k")),
    "veth4": Net(4, ("mtu=1500", "offload=on", "cc=cubic")),
    "cut1500": Net(4, ("mtu=1500", "offload=seggro", "cc=cubic")),
    "cut1500x8": Net(8, ("mtu=1500", "offload=seggro", "cc=cubic")),
    "veth8": Net(8, ("mtu=1500", "offload=on", "cc=cubic")),
    "slow": Net(4, ("mtu=1500", "offload=seggro", "cc=cubic", "rate=1gbit", "queue=256k")),
    "slow8": Net(8, ("mtu=1500", "offload=seggro", "cc=cubic", "rate=1gbit", "queue=256k")),
    "ten": Net(2, ("mtu=1500", "offload=on", "cc=cubic", "rate=10gbit", "queue=2m", "burst=256k")),
    "cut9000": Net(4, ("mtu=9000", "offload=seggro", "cc=cubic")),
}


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table: what runs, which of its numbers counts, and the ratio `ours`/`other` that it must reach
    (`ours` is DLCP; `other` is TCP, or DLCP in another condition). With `beyond`, the target is a limit for the
    difference `ours` - `other` instead."""
    name: str
    net: str
    bench: tuple
    key: str = "bus_gbps"
    unit: str = "Gb/s"
    at_least: float = None
    at_most: float = None
    beyond: bool = False
    other: str = "tcp"           # tcp, or clean / default / off: DLCP without the settings of `ours`
    other_bench: tuple = ()      # replaces `bench` in the run of the other side, which is then DLCP, too
    environment: tuple = ()      # of the run with DLCP
    ours: tuple = ()             # netns settings for this run,
    others: tuple = ()           # for the other run,
    undo: tuple = ()             # and after both
    unprivileged: bool = False
    seconds: float = 1.0         # factor of --seconds
    busy: int = 0                # busy threads for each core, beside the ranks

    def in_turns(self):
        """Whether both sides can run in the same processes: on the same network, and with the same hubs."""
        return not self.ours and not self.other_bench and "hub" not in self.bench

    def target(self):
        if self.at_least is not None:
            return f">={self.at_least:g}"
        return f"<={self.at_most:g}" if self.at_most is not None else "-"

    def met(self, ratio):
        if ratio is None or (self.at_least is None and self.at_most is None):
            return None
        return ratio >= self.at_least if self.at_least is not None else ratio <= self.at_most


BW4M = ("--mode", "bw", "--size", "4M")
LAT = ("--mode", "lat", "--idle", "spin", "--pin", "--size")
RING = ("--mode", "ring", "--ranks", "4", "--size", "16M")
INCAST = ("--mode", "incast", "--ranks", "4", "--size", "256K")
CPU = {"key": "cpu_s_per_gib", "unit": "s/GiB"}
USER = {"key": "user_s_per_gib", "unit": "s/GiB", "beyond": True}

ROWS = (
    Row("bw-4M-veth", "veth", BW4M, at_least=0.80),
    Row("bw-4M-loopback", "lo", BW4M, at_least=0.80),
    Row("bw-1M-cut4200", "cut4200", ("--mode", "bw", "--size", "1M"), at_least=0.95),
    Row("bw-4M-cut4200", "cut4200", BW4M, at_least=0.95),
    Row("ring-16M-cut4200", "cut4200", RING, at_least=1.0),
    Row("lat-64-p50", "veth", (*LAT, "64"), "p50_us", "us", at_most=1.2),
    Row("lat-4K-p50", "veth", (*LAT, "4K"), "p50_us", "us", at_most=1.2),
    Row("cpu-4M-veth", "veth", BW4M, at_most=1.15, **CPU),
    Row("cpu-4M-cut4200", "cut4200", BW4M, at_most=1.15, **CPU),
    Row("bw-1M-loss1%", "loss1", ("--mode", "bw", "--size", "1M"), at_least=3.0),
    Row("ring-16M-loss1%", "loss1", RING, at_least=14, seconds=4),
    Row("ring-16M-loss1%-8ch", "loss1", (*RING, "--channels", "8"), at_least=8, seconds=4),
    Row("64K-p99.9-loss.1%", "loss01", (*LAT, "64K"), "p999_us", "us", at_most=0.1, seconds=3),
    Row("incast-p99", "port200", INCAST, "p99_us", "us", at_most=0.8, seconds=4),
    Row("incast-p99-user", "port200", INCAST, "p99_us", "us", at_most=0.8, seconds=4, unprivileged=True),
    # The filter that drops packets costs a tenth of the bandwidth by itself: "clean" has it as well, at one
    # packet in a million.
    Row("bw-loss1/4096", "cut4200", BW4M, at_least=0.97, other="clean", ours=("loss=244",), others=("loss=1",),
        undo=("loss=0",)),
    Row("bw-checksum-full", "cut4200", BW4M, other="default", environment=(("DLCP_CHECKSUM", "full"),)),
)
SPECIAL = ("idle-cpu", "peers-504x16")

INCAST1M = ("--mode", "incast", "--ranks", "4", "--size", "1M")
REDUCE = ("--mode", "allreduce", "--ranks", "8")
SPEED = (
    *(row for mtu, stream, ring, user in ((1500, 0.88, 0.92, 0.25), (4200, 0.9, 0.95, 0.12), (9000, 0.93, 0.95, 0.08))
      for row in (
        Row(f"bw-1M-{mtu}", f"cut{mtu}", ("--mode", "bw", "--size", "1M"), at_least=stream),
        Row(f"bw-4M-{mtu}", f"cut{mtu}", BW4M, at_least=stream),
        Row(f"cpu-4M-{mtu}", f"cut{mtu}", BW4M, at_most=1.0, **CPU),
        Row(f"user-4M-{mtu}", f"cut{mtu}", BW4M, at_most=user, **USER),
        Row(f"ring-16M-{mtu}", f"cut{mtu}", RING, at_least=ring),
        Row(f"incast-1M-{mtu}", f"cut{mtu}", INCAST1M, at_least=1.1),
        Row(f"incast-p99-{mtu}", f"cut{mtu}", INCAST1M, "p99_us", "us", at_most=1),
    )),
    Row("bw-4M-veth4", "veth4", BW4M, at_least=0.74),
    Row("user-4M-veth4", "veth4", BW4M, at_most=0.12, **USER),
    Row("ring-16M-veth4", "veth4", RING, at_least=0.74),
    Row("incast-1M-veth4", "veth4", INCAST1M, at_least=0.74),
    *(Row(f"lat-{size}", "veth", (*LAT, size), "p50_us", "us", at_most=most)
      for size, most in (("64", 0.9), ("4K", 1.0), ("8K", 1.0), ("16K", 1.0), ("32K", 1.0), ("64K", 1.0))),
    Row("lat-64-p99.9", "veth", (*LAT, "64"), "p999_us", "us", at_most=1.0),
    *(Row(f"direct-{size}-lo-8rk", "lo", (*REDUCE, "--algo", "direct", "--size", size), "p50_us", "us", at_most=1.0,
          other="ring", other_bench=(*REDUCE, "--algo", "ring", "--size", size)) for size in ("1M", "16M")),
)

# NCCL opens several connections between two ranks (channels), a job has several ranks on each host, and messages have
# many sizes. "cut": real packets, cut to the MTU; "veth": bursts cross the links whole.
SIZES = ("64", "4K", "64K", "256K", "1M", "4M", "16M")
MANY = tuple(row for net, cut, least in (("cut1500x8", "cut", 0.9), ("veth8", "veth", 0.75)) for row in (
    *(Row(f"ring-16M-{cut}-{channels}ch", net, (*RING, "--channels", str(channels)), at_least=least)
      for channels in (1, 2, 4, 8, 16)),
    *(Row(f"ring-4M-{cut}-{ranks}rk", net, ("--mode", "ring", "--ranks", str(ranks), "--size", "4M"), at_least=least)
      for ranks in (2, 4, 8)),
    *(Row(f"bw-{size}-{cut}", net, ("--mode", "bw", "--size", size), at_least=least) for size in SIZES),
    *(Row(f"a2a-256K-{cut}-{ranks}rk", net, ("--mode", "alltoall", "--ranks", str(ranks), "--size", "256K"),
          at_least=least) for ranks in (2, 4, 8)),
    *(Row(f"a2a-{size}-{cut}-8rk", net, ("--mode", "alltoall", "--ranks", "8", "--size", size), at_least=least)
      for size in ("64K", "1M")),
    # Two messages of 4 MiB in flight to each of seven ranks are enough, and more take gigabytes of memory.
    Row(f"a2a-4M-{cut}-8rk", net, ("--mode", "alltoall", "--ranks", "8", "--size", "4M", "--inflight", "2"),
        at_least=least),
    *(Row(f"bw-256K-{cut}-{channels}ch", net, ("--mode", "bw", "--size", "256K", "--channels", str(channels)),
          at_least=least) for channels in (2, 4, 8, 16)),
    Row(f"a2a-256K-{cut}-8rk-8ch", net, ("--mode", "alltoall", "--ranks", "8", "--size", "256K", "--channels", "8",
                                         "--inflight", "2"), at_least=least),
    Row(f"ring-64K-{cut}", net, ("--mode", "ring", "--ranks", "4", "--size", "64K"), at_least=least),
    *(Row(f"a2a-{size}-{cut}-1ch", net, ("--mode", "alltoall", "--ranks", "6", "--size", size), at_least=1.0)
      for size in ("777", "4K")),
    *(Row(f"a2a-{size}-{cut}-8rk-{channels}ch", net, ("--mode", "alltoall", "--ranks", "8", "--size", size,
                                                      "--channels", str(channels)), at_least=1.0)
      for size in ("64", "4K") for channels in (1, 8)),
)) + tuple(Row(f"a2a-256K-1gbit-8ch{name}", "slow", ("--mode", "alltoall", "--ranks", "4", "--size", "256K", "--channels",
                                                     "8"), *key, **least, seconds=4)
           for name, key, least in (("", (), {"at_least": 1.0}), ("-p99", ("p99_us", "us"), {"at_most": 1.0})))

# Hosts on which other threads use the cores as well. As in NCCL, a rank gives its core up when it has nothing to do.
BUSY = tuple(Row(f"{name}-{cut}-busy{busy}", net, (*bench, "--idle", "yield"), busy=busy)
             for net, cut in (("cut1500", "cut"), ("veth4", "veth"))
             for name, bench in (("bw-4K", ("--mode", "bw", "--size", "4K")),
                                 ("bw-1M", ("--mode", "bw", "--size", "1M")), ("ring-16M", RING))
             for busy in (1, 2))

# ROWS and MANY both have a row "bw-4M-veth"; --all measures that of MANY.
ALL = tuple({row.name: row for row in ROWS + SPEED + MANY + BUSY}.values())

# Numbers distributed like gradients, compressed as by default. "off": DLCP with DLCP_COMPRESS=off.
AUTO = (("DLCP_COMPRESS", "auto"),)
BW1M = ("--mode", "bw", "--size", "1M")
A2A1M = ("--mode", "alltoall", "--ranks", "4", "--size", "1M")
GRADIENTS = (
    *(Row(f"{name}-1gbit-{data}", "slow", (*bench, "--data", data), at_least=least, environment=AUTO)
      for data, least in (("bf16", 1.25), ("f32", 1.1), ("amp", 2.2), ("rows", 5), ("rows-bf16", 5))
      for name, bench in (("bw-1M", BW1M), ("a2a-1M", A2A1M))),
    *(Row(f"ring-4M-1gbit-amp-{ranks}rk", "slow8", ("--mode", "ring", "--ranks", str(ranks), "--size", "4M", "--data", "amp"),
          at_least=1.35, environment=AUTO) for ranks in (4, 8)),
    *(Row(f"{algorithm}-4M-1gbit-amp", "slow8", ("--mode", "allreduce", "--algo", algorithm, "--ranks", "4", "--size", "4M",
                                                 "--data", "amp"), at_least=1.35, other="off", environment=AUTO)
      for algorithm in ("direct", "hub")),
    *(Row(f"{name}-1gbit-random", "slow", bench, at_least=0.99, other="off", environment=AUTO)
      for name, bench in (("bw-1M", BW1M), ("a2a-1M", A2A1M))),
    *(Row(f"bw-1M-10gbit-{data}", "ten", (*BW1M, "--data", data), at_least=least, environment=AUTO)
      for data, least in (("bf16", 1.25), ("f32", 1.1), ("amp", 2.2))),
    Row("bw-1M-cut1500-bf16", "cut1500", (*BW1M, "--data", "bf16"), at_least=0.97, other="off", environment=AUTO),
)
