"""One rank of train.py: a perceptron on its part of each batch, with gradients summed through the plugin.

worker.py TASK   TASK: JSON from train.py. Prints one JSON object; all ranks hold the same weights at every step, so
rank 0's curves are those of all ranks."""

import ctypes
import hashlib
import json
import os
import pathlib
import sys
import time

import numpy as np
from sklearn.datasets import load_digits

LAYERS = (64, 512, 512, 10)  # 301066 parameters, 1.2 MB of gradients: messages of 150 KB in a ring of 4
BATCH = 128
RATE, MOMENTUM = 0.1, 0.9
DECAY = 1e-4  # added to the gradients, so that zeros are losses: some pixels are black in every image
HANDLE_BYTES, ERROR_BYTES = 128, 512
COMMUNICATOR = 0x7261696E
FLOAT32, BFLOAT16 = 7, 9  # NCCL's numbers


class AllReduce:
    """The library's four functions, with handles exchanged through files in a folder."""

    def __init__(self, task, count):
        self.library = ctypes.CDLL(task["library"])
        self.library.training_open.restype = ctypes.c_void_p
        self.library.training_reduce.restype = ctypes.c_int64
        self.error = ctypes.create_string_buffer(ERROR_BYTES)
        handle = ctypes.create_string_buffer(HANDLE_BYTES)
        self.communicator = ctypes.c_void_p(self.library.training_open(
            task["plugin"].encode(), task["rank"], task["ranks"], ctypes.c_uint32(round(task["budget"] * 1e6)),
            ctypes.c_uint64(COMMUNICATOR), ctypes.c_uint64(count), task.get("type", FLOAT32), int(task["algorithm"] != "ring"), handle, self.error))
        self.check(self.communicator)
        folder = pathlib.Path(task["folder"])
        mine = folder / f"handle{task['rank']}"
        mine.with_suffix(".new").write_bytes(handle.raw)
        mine.with_suffix(".new").rename(mine)
        theirs = [folder / f"handle{rank}" for rank in range(task["ranks"])]
        while not all(one.exists() for one in theirs):
            time.sleep(0.01)
        handles = b"".join(one.read_bytes() for one in theirs)
        self.check(self.library.training_connect(self.communicator, handles, task["ranks"], self.error) == 0)

    def check(self, good):
        if not good:
            sys.exit(self.error.value.decode(errors="replace"))

    def sum(self, vector, out):
        """out = the sum over all ranks; returns the number of contributions missing from this rank's receives in a ring."""
        lost = self.library.training_reduce(self.communicator, vector.ctypes.data_as(ctypes.c_void_p),
                                            out.ctypes.data_as(ctypes.c_void_p), self.error)
        self.check(lost >= 0)
        return lost

    def close(self):
        self.check(self.library.training_close(self.communicator, self.error) == 0)


class Perceptron:
    """ReLU layers and a softmax; all weights, and all gradients, in one vector each."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        shapes = [shape for a, b in zip(LAYERS, LAYERS[1:]) for shape in ((a, b), (b,))]
        count = sum(int(np.prod(shape)) for shape in shapes)
        self.weights, self.gradients = np.zeros(count, np.float32), np.zeros(count, np.float32)
        self.layers, at = [], 0
        for shape in shapes:
            size = int(np.prod(shape))
            self.layers.append(tuple(v[at:at + size].reshape(shape) for v in (self.weights, self.gradients)))
            if len(shape) == 2:
                self.layers[-1][0][:] = random.normal(0, np.sqrt(2 / shape[0]), shape)
            at += size

    def forward(self, x):
        values = [x]
        for layer in range(0, len(self.layers), 2):
            x = x @ self.layers[layer][0] + self.layers[layer + 1][0]
            if layer + 2 < len(self.layers):
                x = np.maximum(x, 0)
            values.append(x)
        return values

    def probabilities(self, x):
        logits = self.forward(x)[-1]
        exponent = np.exp(logits - logits.max(1, keepdims=True))
        return exponent / exponent.sum(1, keepdims=True)

    def backward(self, x, y):
        """Fills `gradients` with those of the mean loss."""
        values = self.forward(x)
        exponent = np.exp(values[-1] - values[-1].max(1, keepdims=True))
        delta = exponent / exponent.sum(1, keepdims=True)
        delta[np.arange(len(y)), y] -= 1
        delta /= len(y)
        for layer in range(len(self.layers) - 2, -1, -2):
            below = values[layer // 2]
            self.layers[layer][1][:] = below.T @ delta
            self.layers[layer + 1][1][:] = delta.sum(0)
            delta = (delta @ self.layers[layer][0].T) * (below > 0)


def data(seed):
    """(training images, labels, test images, labels); 1437 and 360 images."""
    digits = load_digits()
    x, y = (digits.data / 16).astype(np.float32), digits.target
    order = np.random.default_rng(seed).permutation(len(x))
    cut = len(x) * 4 // 5
    return x[order[:cut]], y[order[:cut]], x[order[cut:]], y[order[cut:]]


def judge(model, train_x, train_y, test_x, test_y):
    seen = model.probabilities(train_x)[np.arange(len(train_y)), train_y]
    right = model.probabilities(test_x).argmax(1) == test_y
    return {"loss": float(-np.log(np.maximum(seen, 1e-12)).mean()), "accuracy": float(right.mean())}


def wait_for_all(task):
    """Waits until train.py, which learns here that this rank is connected, switches on the losses."""
    folder = pathlib.Path(task["folder"])
    (folder / f"connected{task['rank']}").touch()
    while not (folder / "begin").exists():
        time.sleep(0.01)


def main():
    task = json.loads(sys.argv[1])
    rank, ranks = task["rank"], task["ranks"]
    sets = data(task["seed"])
    model = Perceptron(task["seed"])
    ring = AllReduce(task, len(model.weights))
    wait_for_all(task)
    total, velocity = np.zeros_like(model.weights), np.zeros_like(model.weights)
    batches = np.random.default_rng(task["seed"] + 1000)  # equal on all ranks; each takes its part
    report = {"elements": len(total), "curve": [], "reduce_seconds": [], "step_seconds": [], "lost_share": []}
    spent = 0.0
    for step in range(task["steps"]):
        start = time.monotonic()
        mine = batches.choice(len(sets[0]), BATCH, replace=False)[rank::ranks]
        model.backward(sets[0][mine], sets[1][mine])
        model.gradients += DECAY * model.weights
        before = time.monotonic()
        lost = ring.sum(model.gradients, total)
        report["reduce_seconds"].append(time.monotonic() - before)
        velocity *= MOMENTUM
        velocity += total / ranks
        model.weights -= RATE * velocity
        report["step_seconds"].append(time.monotonic() - start)
        report["lost_share"].append(lost / (len(total) * ranks))
        spent += report["step_seconds"][-1]
        if rank == 0 and (step % task["every"] == 0 or step + 1 == task["steps"]):
            report["curve"].append({"step": step + 1, "seconds": spent, **judge(model, *sets)})
    ring.close()
    report["weights"] = hashlib.sha256(model.weights.tobytes()).hexdigest()
    stats = pathlib.Path(task["folder"], f"stats.{os.getpid()}.json")
    report["counters"] = json.loads(stats.read_text()) if stats.exists() else {}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
