"""The plot of train.py: curves over steps and over time, and the durations of all-reduces."""

import statistics

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {"exact": "tab:blue", "tags": "tab:green", "untagged": "tab:orange", "tcp": "tab:red",
           "direct": "tab:purple", "direct-tags": "tab:purple", "hub": "tab:brown", "hub-tags": "tab:brown"}
STYLES = {"exact": "-", "tags": "--", "untagged": ":", "tcp": (0, (1, 3)), "direct": "-", "direct-tags": "--",
          "hub": "-", "hub-tags": "--"}


def median_curve(runs, key):
    points = zip(*(run["curve"] for run in runs))
    return [statistics.median(point[key] for point in same_step) for same_step in points]


def plot(results, names, path):
    figure, axes = plt.subplots(2, 2, figsize=(11, 7.5))
    for variant, name in names.items():
        runs = [r for r in results if r["variant"] == variant]
        if not runs:
            continue
        look = {"color": COLOURS[variant], "linestyle": STYLES[variant], "label": name}
        steps, seconds = (median_curve(runs, key) for key in ("step", "seconds"))
        loss, accuracy = (median_curve(runs, key) for key in ("loss", "accuracy"))
        axes[0][0].plot(steps, loss, **look)
        axes[0][1].plot(steps, accuracy, **look)
        axes[1][0].plot(seconds, accuracy, **look)
        times = sorted(1e3 * t for r in runs for t in r["reduce_seconds"][1:])
        axes[1][1].plot(times, [(i + 1) / len(times) for i in range(len(times))], **look)
    axes[0][0].set(xlabel="step", ylabel="training loss", yscale="log")
    axes[0][1].set(xlabel="step", ylabel="test accuracy", ylim=(0.5, 1))
    axes[1][0].set(xlabel="seconds of training", ylabel="test accuracy", ylim=(0.5, 1))
    axes[1][1].set(xlabel="all-reduce, ms", ylabel="share of all-reduces within", xscale="log")
    axes[0][0].legend(fontsize=8)
    for axis in axes.flat:
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=90)
