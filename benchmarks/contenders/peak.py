"""Not a contender but the yardstick: the best rate of a square matrix product, in both precisions, in GFLOP/s."""

import time

import protocol
import torch

SIZES = (1024, 2048, 4096)


def best(precision: torch.dtype, seconds: float = 1.0) -> float:
    """The fastest product of every size tried, each repeated for about `seconds`."""
    rates = []
    for size in SIZES:
        left, right = (torch.randn(size, size).to(precision) for _ in range(2))
        product = left @ right
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            torch.mm(left, right, out=product)
            rates.append(2 * size**3 / (time.perf_counter() - began) / 1e9)
    return max(rates)


def main(options) -> None:
    torch.set_num_threads(options.threads)
    precisions = {"float32": torch.float32, "bfloat16": torch.bfloat16}
    best(torch.float32, 0.1)
    protocol.ready("peak", "both", "torch")
    while protocol.asked():
        protocol.say(**{name: best(precision) for name, precision in precisions.items()})


if __name__ == "__main__":
    main(protocol.parser(__doc__).parse_args())
