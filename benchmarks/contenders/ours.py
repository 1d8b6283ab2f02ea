"""uulearn's own estimator: one call of fit, answering from its callback; the first epoch is the warm-up."""

import time
from typing import Any

import protocol
import torch

from uulearn import UUNeuralClassifier

IMAGE = (3, 32, 32)


class Answer:
    """Ends the training when the driver does.

    An epoch is timed from callback to callback, so that it holds all that fit does in between; beside it, what fit
    itself records as the time of training.
    """

    def __init__(self, options: Any) -> None:
        self.options, self.began = options, None

    def __call__(self, clf: Any, record: Any) -> bool:
        if self.began is None:
            protocol.ready(f"uulearn {self.options.model}", self.options.precision, "uulearn", "torch", "numpy")
        else:
            seconds = time.perf_counter() - self.began
            protocol.say(seconds=seconds, training=record["seconds"], networks=self.options.members)
        stop = not protocol.asked()
        self.began = time.perf_counter()
        return stop


def main(options: Any) -> None:
    torch.set_num_threads(options.threads)
    X, sets = protocol.rows(options)
    clf = UUNeuralClassifier(
        module=options.model,
        set_priors=protocol.SHARES,
        prior=protocol.PRIOR,
        recipe="paper",
        members=options.members,
        precision=options.precision,
        batch_size=options.batch,
        epochs=protocol.FOREVER,
        validation_fraction=0,
        callbacks=[Answer(options)],
        random_state=options.seed,
    )
    clf.fit(X if options.model == "mlp" else X.reshape(-1, *IMAGE), sets)


if __name__ == "__main__":
    parser = protocol.parser(__doc__)
    parser.add_argument("--model", choices=["mlp", "allconv", "resnet32"], default="mlp")
    parser.add_argument("--members", type=int, default=1)
    main(parser.parse_args())
