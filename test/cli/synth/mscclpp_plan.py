"""Plans for MSCCL++'s executor: the checks of its loader (0.9.0), reimplemented, and a small executor.

The executor runs all thread blocks of all GPUs in a random order on sets of contributions, so that a write that is too
early or a read that is too late gives a wrong set in some order. Within a block it requires a barrier (`nop`) between
operations on the same data, after a wait, and before a signal.
"""

import random

OPERATIONS_MAX, CHANNELS_MAX, AT_ONCE, INPUTS_MAX = 64, 16, 8, 10
KINDS = ("memory", "port")


def require(condition, what):
    if not condition:
        raise ValueError(what)


class Gpu:
    """One GPU of a plan, read in the loader's way: every index is looked up in its own table."""

    def __init__(self, plan, rank):
        gpu = plan["gpus"][rank]
        require(gpu["id"] == rank, "GPUs are in order")
        self.rank = rank
        self.chunks = {"i": gpu["input_chunks"], "o": gpu["output_chunks"], "s": gpu["scratch_chunks"]}
        self.channels = {kind: [peer for channel in gpu["channels"] if channel["channel_type"] == kind for peer in channel["connected_to"]] for kind in KINDS}
        require(len(gpu["channels"]) == sum(map(bool, self.channels.values())), "one list of channels of each kind")
        self.buffers = [(one["rank"], one["type"], one["access_channel_types"]) for one in gpu["remote_buffers"]]
        for peer, buffer, kinds in self.buffers:
            require(buffer in ("i", "o", "s") and kinds and set(kinds) <= set(KINDS) and peer != rank, "a remote buffer")
            require(plan["gpus"][peer]["scratch_chunks"] > 0 or buffer != "s", "the remote scratch is there")
        self.blocks = [self.read_block(index, block) for index, block in enumerate(gpu["threadblocks"])]
        require(isinstance(gpu["semaphores"], list), "semaphores")

    def read_block(self, index, block):
        require(block["id"] == index, "blocks are in order")
        channels = {kind: [] for kind in KINDS}
        for one in block["channels"]:
            channels[one["channel_type"]] += one["channel_ids"]
        refs = {kind: [] for kind in KINDS}
        for one in block["remote_buffer_refs"]:
            refs[one["access_channel_type"]] += one["remote_buffer_ids"]
        for kind in KINDS:
            require(len(channels[kind]) <= CHANNELS_MAX and len(refs[kind]) <= CHANNELS_MAX, "a block's arrays have 16 entries")
            for buffer in refs[kind]:
                require(kind in self.buffers[buffer][2], "a buffer is reached through its declared kind of channel")
        require(len(block["ops"]) <= OPERATIONS_MAX, "a block has at most 64 operations")
        return [self.read_operation(op, channels, refs) for op in block["ops"]]

    def read_operation(self, op, channels, refs):
        kind = op.get("channel_type", "none")
        ids = op.get("channel_ids", [])
        sources, targets = op.get("src_buff", []), op.get("dst_buff", [])
        require(len(ids) <= AT_ONCE and max(len(sources), len(targets)) <= INPUTS_MAX, "an operation's arrays")
        name = op["name"]
        read = {"name": name, "kind": kind, "channels": [channels[kind][one] for one in ids]}
        read["from"] = [self.local(one) for one in sources]
        if name in ("put", "pwsf"):
            require(len(sources) == len(targets) <= AT_ONCE, "puts have two ends")
            require(len({one["type"] for one in sources}) == 1 or kind == "port", "memory is read from one buffer")
            require(name == "put" or kind == "port", "memory channels do not signal by themselves")
            read["to"] = [(*self.buffers[refs[kind][one["buffer_id"]]][:2], one["index"], one["size"]) for one in targets]
            require([one[2] for one in read["from"]] == [one[3] for one in read["to"]], "both ends have the same length")
            if kind == "port":
                require([self.channels[kind][one] for one in read["channels"]] == [one[0] for one in read["to"]], "channels lead to the buffers' GPUs")
                require(name == "put" or len(set(ids)) == len(ids), "each channel signals once")
        elif name in ("signal", "wait"):
            require(ids and len(set(ids)) == len(ids) and kind in KINDS, "who is told")
        elif name in ("re", "copy"):
            read["to"] = [self.local(one) for one in targets]
            require(len(targets) == 1 and (len(sources) > 1 if name == "re" else len(sources) == 1), "operands")
            require({one[2] for one in read["from"]} == {read["to"][0][2]}, "operands have the same length")
            require(name == "copy" or op["reduce_op"] == "sum", "the operation")
        else:
            require(name == "nop", f"operation {name}")
        return read

    def local(self, one):
        require(0 <= one["index"] and one["size"] > 0 and one["index"] + one["size"] <= self.chunks[one["type"]], "within the buffer")
        return one["type"], one["index"], one["size"]


def load(plan):
    """The GPUs of a plan; ValueError or KeyError if the loader or the executor does not accept it."""
    for key, kind in (("name", str), ("collective", str), ("inplace", bool), ("min_message_size", int), ("max_message_size", int)):
        require(isinstance(plan[key], kind), key)
    require(plan["protocol"] == "Simple" and plan["buffer_alignment"] % 16 == 0 and plan["num_threads_per_block"] <= 1024, "how it runs")
    require(not plan["reuse_resources"] and not plan["use_double_scratch_buffer"], "scratch is used once")
    gpus = [Gpu(plan, rank) for rank in range(len(plan["gpus"]))]
    for gpu in gpus:
        for kind in KINDS:
            for peer in set(gpu.channels[kind]):
                require(gpus[peer].channels[kind].count(gpu.rank) == gpu.channels[kind].count(peer), "channels are pairs")
        for peer, buffer, _ in gpu.buffers:
            require(buffer != "s" or gpus[peer].chunks["s"] > 0, "remote scratch")
        check_meetings(gpu)
    return gpus


def check_meetings(gpu):
    def meets(some, others):
        return any(a[0] == b[0] and a[1] < b[1] + b[2] and b[1] < a[1] + a[2] for a in some for b in others)

    for block in gpu.blocks:
        reads, writes, waited, put = [], [], False, False
        for op in block:
            name = op["name"]
            if name == "nop":
                reads, writes, waited, put = [], [], False, False
            elif name == "wait":
                waited = True
            elif name == "signal":
                require(not put, "threads meet before they signal what they wrote")
            else:
                wrote = op["to"] if name in ("re", "copy") else []
                require(not waited, "threads meet after a wait")
                require(not meets(op["from"], writes) and not meets(wrote, writes + reads), "threads meet between operations on the same data")
                require(name != "pwsf" or not put_before(block, op), "a port signals after all its writes")
                reads, writes = reads + op["from"], writes + wrote
                put = put or name == "put"


def put_before(block, op):
    """Whether a put on one of the channels is not yet followed by a nop."""
    pending = set()
    for one in block:
        if one is op:
            return bool(pending & set(op["channels"]))
        if one["name"] == "nop":
            pending = set()
        elif one["name"] == "put":
            pending |= set(one["channels"])
    return False


class Executor:
    """Buffers hold sets of (rank, offset in its input); sums are disjoint unions."""

    def __init__(self, plan, gpus, seed):
        self.plan, self.gpus = plan, gpus
        self.random = random.Random(seed)
        self.told = {}  # by sender and its channel: number of signals
        self.heard = {}
        self.memory = {}
        self.position = {(gpu.rank, index): 0 for gpu in gpus for index in range(len(gpu.blocks))}
        self.launch = dict.fromkeys(range(len(gpus)), 0)

    def ordinal(self, gpu, kind, channel):
        peer = gpu.channels[kind][channel]
        return peer, gpu.channels[kind][:channel].count(peer)

    def run(self, launches):
        """Yields (rank, memory) when each GPU ends each launch; a GPU may be one launch ahead of others."""
        for gpu in self.gpus:
            self.begin(gpu.rank)
        running = list(self.position)
        while running:
            self.random.shuffle(running)
            moved = False
            for rank, index in list(running):
                if self.launch[rank] == launches:
                    continue
                for _ in range(self.random.choice((1, 1, 5, 100))):
                    if not self.step(self.gpus[rank], index):
                        break
                    moved = True
                blocks = self.gpus[rank].blocks
                if self.position[rank, index] == len(blocks[index]) and all(self.position[rank, other] == len(block) for other, block in enumerate(blocks)):
                    yield rank, self.memory[rank]
                    moved = True
                    self.launch[rank] += 1
                    if self.launch[rank] < launches:
                        self.begin(rank)
                    else:
                        running = [one for one in running if one[0] != rank]
                    for other in range(len(blocks)):
                        self.position[rank, other] = 0
            require(moved or not running, "a block waits for ever")

    def begin(self, rank):
        gpu = self.gpus[rank]
        self.memory[rank] = {buffer: [None] * count for buffer, count in gpu.chunks.items()}
        in_place, collective = self.plan["inplace"], self.plan["collective"]
        if in_place:
            require(collective in ("allreduce", "allgather"), "in place")
            whole = "o" if collective == "allgather" else "i"
            if collective == "allreduce":
                self.memory[rank]["o"] = self.memory[rank]["i"]
            first = rank * gpu.chunks["i"] if collective == "allgather" else 0
            for place in range(gpu.chunks["i"]):
                self.memory[rank][whole][first + place] = frozenset({(self.launch[rank], rank, first + place)})
        else:
            self.memory[rank]["i"] = [frozenset({(self.launch[rank], rank, place)}) for place in range(gpu.chunks["i"])]

    def read(self, rank, span):
        values = self.memory[rank][span[0]][span[1]:span[1] + span[2]]
        require(None not in values, f"GPU {rank} reads unwritten memory")
        return values

    def write(self, rank, span, values):
        self.memory[rank][span[0]][span[1]:span[1] + span[2]] = values

    def step(self, gpu, index):
        at = self.position[gpu.rank, index]
        if at == len(gpu.blocks[index]):
            return False
        op = gpu.blocks[index][at]
        if op["name"] == "wait":
            counts = []
            for channel in op["channels"]:
                peer, ordinal = self.ordinal(gpu, op["kind"], channel)
                key = (gpu.rank, peer, op["kind"], ordinal)
                if self.told.get(key, 0) <= self.heard.get(key, 0):
                    return False
                counts.append(key)
            for key in counts:
                self.heard[key] = self.heard.get(key, 0) + 1
        elif op["name"] in ("put", "pwsf"):
            for source, (peer, *span) in zip(op["from"], op["to"]):
                self.write(peer, span, self.read(gpu.rank, source))
        elif op["name"] in ("re", "copy"):
            sums = self.read(gpu.rank, op["from"][0])
            for source in op["from"][1:]:
                more = self.read(gpu.rank, source)
                require(all(not (a & b) for a, b in zip(sums, more)), "a contribution is added twice")
                sums = [a | b for a, b in zip(sums, more)]
            self.write(gpu.rank, op["to"][0], sums)
        if op["name"] in ("signal", "pwsf"):
            for channel in op["channels"]:
                peer, ordinal = self.ordinal(gpu, op["kind"], channel)
                key = (peer, gpu.rank, op["kind"], ordinal)
                self.told[key] = self.told.get(key, 0) + 1
        self.position[gpu.rank, index] = at + 1
        return True


def wrong_elements(plan, seed, launches=2):
    """(number of wrong elements in all GPUs' results after each of some launches, number of elements)."""
    gpus = load(plan)
    ranks = range(len(gpus))
    executor = Executor(plan, gpus, seed)
    wrong = places = 0
    for rank, memory in executor.run(launches):
        launch = executor.launch[rank]
        collective = plan["collective"]
        wanted = {
            "allreduce": lambda place: frozenset((launch, other, place) for other in ranks),
            "allgather": lambda place: frozenset({(launch, place // gpus[rank].chunks["i"], place)}),
            "reducescatter": lambda place: frozenset((launch, other, rank * gpus[rank].chunks["o"] + place) for other in ranks),
            "alltoall": lambda place: frozenset({(launch, place // (gpus[rank].chunks["i"] // len(gpus)), rank * (gpus[rank].chunks["i"] // len(gpus)) + place % (gpus[rank].chunks["i"] // len(gpus)))}),
        }[collective]
        result = memory["i" if collective == "allreduce" else "o"]
        wrong += sum(value != wanted(place) for place, value in enumerate(result))
        places += len(result)
        if not plan["inplace"]:
            wrong += sum(value != frozenset({(launch, rank, place)}) for place, value in enumerate(memory["i"]))
    require(executor.told == executor.heard, "a signal has no matching wait")
    return wrong, places
