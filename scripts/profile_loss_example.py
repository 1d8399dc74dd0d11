"""The default model of scripts/profile-loss, and a template for your own: a small network on scikit-learn's digits."""

import torch
from sklearn.datasets import load_digits

EPOCHS, BATCH = 8, 64


def build(seed):
    """The model; torch's random state is already set from `seed`."""
    return torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(),
                               torch.nn.Linear(256, 10))


def train(model, seed):
    """Ordinary training; the gradients are lost inside `model`. Returns the results to be compared."""
    digits = load_digits()
    x = torch.tensor(digits.data / 16, dtype=torch.float32)
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    learn, test = order[:1437], order[1437:]
    rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_of = torch.nn.CrossEntropyLoss()
    for _ in range(EPOCHS):
        for batch in learn[torch.randperm(len(learn))].split(BATCH):
            mine = batch[rank::ranks]
            optimizer.zero_grad()
            loss_of(model(x[mine]), y[mine]).backward()
            optimizer.step()
    with torch.no_grad():
        inner = model.module
        return {"train_loss": loss_of(inner(x[learn]), y[learn]).item(),
                "test_accuracy": (inner(x[test]).argmax(1) == y[test]).float().mean().item()}
