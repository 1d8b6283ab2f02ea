"""The same training as a plain eager PyTorch loop, over in-memory tensors or over TensorDataset and DataLoader.

The tensors come in batches that hold as many rows of one set as of the other; the DataLoader simply shuffles, as most
people would have it.
"""

from collections.abc import Iterator

import protocol
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

PRIME, ALPHA = protocol.coefficients()
IMAGE = (3, 32, 32)


def mlp(n_features: int) -> nn.Module:
    """The paper's fully connected network, with the constants of Keras."""
    stack, width = [], n_features
    for _ in range(4):
        stack += [nn.Linear(width, 300, bias=False), nn.BatchNorm1d(300, eps=1e-3, momentum=0.01), nn.ReLU()]
        width = 300
    model = nn.Sequential(*stack, nn.Linear(width, 1))
    for layer in model:
        if isinstance(layer, nn.Linear):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="linear")  # LeCun normal
    return model


def build(name: str, n_features: int) -> tuple[nn.Module, torch.optim.Optimizer]:
    """The network of the paper and its optimiser; l2 times ||W||^2 is a weight decay of twice l2."""
    if name == "mlp":
        model, optimiser, rate, penalty = mlp(n_features), torch.optim.SGD, 1e-3, 1e-4
    else:
        from uulearn.nn import models

        network, rate, penalty = {
            "allconv": (models.AllConvNet, 1e-3, 1e-5),
            "resnet32": (models.ResNet32, 1e-5, 5e-3),
        }[name]
        model, optimiser = network(shape=IMAGE), torch.optim.Adam
    kernels = [value for value in model.parameters() if value.ndim > 1]
    others = [value for value in model.parameters() if value.ndim < 2]
    groups = [{"params": kernels, "weight_decay": 2 * penalty}, {"params": others, "weight_decay": 0.0}]
    return model, optimiser(groups, lr=rate)


def uu_risk(scores: torch.Tensor, signs: torch.Tensor) -> torch.Tensor:
    """alpha * mean over U of loss(g) + alpha' * mean over U' of loss(-g), loss(z) = 1 / (1 + exp(z))."""
    weight = torch.where(signs > 0, 2 * ALPHA, 2 * PRIME)  # each set is half of the rows
    return (weight * torch.sigmoid(-signs * scores)).mean()


def tensor_batches(
    X: torch.Tensor, signs: torch.Tensor, sets: torch.Tensor, batch: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """As many rows of one set as of the other in every batch, in a new order each epoch."""
    shuffled = []
    for k in protocol.SHARES:
        members = (sets == k).nonzero().squeeze(1)
        shuffled.append(members[torch.randperm(len(members))].split(batch // 2))
    for parts in zip(*shuffled, strict=True):
        chosen = torch.cat(parts)
        yield X.index_select(0, chosen), signs.index_select(0, chosen)


def main(options) -> None:
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    rows, sets = protocol.rows(options)
    X, sets = torch.from_numpy(rows), torch.from_numpy(sets)
    signs = 2.0 * sets.float() - 1
    model, optimiser = build(options.model, X.shape[1])
    if options.model != "mlp":
        X = X.view(-1, *IMAGE)
    loader = DataLoader(TensorDataset(X, signs), batch_size=options.batch, shuffle=True)

    def epoch() -> None:
        model.train()
        for inputs, targets in (
            loader if options.loader == "dataloader" else tensor_batches(X, signs, sets, options.batch)
        ):
            optimiser.zero_grad()
            loss = uu_risk(model(inputs).view(-1), targets)
            loss.backward()
            optimiser.step()

    epoch()
    protocol.ready(f"torch {options.loader} {options.model}", "float32", "torch", "numpy")
    protocol.serve(epoch)


if __name__ == "__main__":
    parser = protocol.parser(__doc__)
    parser.add_argument("--loader", choices=["tensors", "dataloader"], default="tensors")
    parser.add_argument("--model", choices=["mlp", "allconv", "resnet32"], default="mlp")
    main(parser.parse_args())
