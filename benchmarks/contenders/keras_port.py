"""The paper's MNIST network in Keras 3 on TensorFlow, through compile and fit, in an environment of its own.

    python3 -m venv .venv-keras
    .venv-keras/bin/python -m pip install -r benchmarks/contenders/requirements-keras.txt

FC 784-300-300-300-300-1, batch normalisation before each ReLU, l2 1e-4, LeCun-normal start, SGD with
lr / (1 + decay * iteration), the sigmoid-loss UU risk; each batch holds as many rows of one set as of the other.
"""

import os
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import protocol
import tensorflow as tf
from keras import layers, ops

PRIME, ALPHA = protocol.coefficients()


def uu_risk(signs, scores):
    """alpha * mean over U of loss(g) + alpha' * mean over U' of loss(-g), loss(z) = 1 / (1 + exp(z)), as row losses."""
    weight = ops.where(signs > 0, 2 * ALPHA, 2 * PRIME)  # each set is half of a batch, and fit takes the mean
    return ops.squeeze(weight * ops.sigmoid(-signs * scores), axis=-1)


def network(n_features: int) -> keras.Model:
    """The paper's fully connected network."""
    kernel = {"kernel_initializer": "lecun_normal", "kernel_regularizer": keras.regularizers.L2(1e-4)}
    model = keras.Sequential([keras.Input((n_features,))])
    for _ in range(4):
        model.add(layers.Dense(300, use_bias=False, **kernel))
        model.add(layers.BatchNormalization(momentum=0.99, epsilon=1e-3))
        model.add(layers.Activation("relu"))
    model.add(layers.Dense(1, dtype="float32", **kernel))
    return model


class Answer(keras.callbacks.Callback):
    """Answer the driver from inside one call of fit; the first epoch is the warm-up."""

    def __init__(self, precision: str) -> None:
        super().__init__()
        self.precision = precision

    def on_epoch_begin(self, epoch, logs=None) -> None:
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None) -> None:
        seconds = time.perf_counter() - self.began
        if epoch == 0:
            protocol.ready("keras", self.precision, "keras", "tensorflow-cpu", "numpy")
        else:
            protocol.say(seconds=seconds, networks=1, loss=float(logs["loss"]))
        self.model.stop_training = not protocol.asked()


def main(options) -> None:
    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(options.threads)
    keras.utils.set_random_seed(options.seed)
    if options.precision == "bfloat16":
        keras.mixed_precision.set_global_policy("mixed_bfloat16")
    X, sets = protocol.rows(options)
    signs = (2.0 * sets - 1).astype("float32").reshape(-1, 1)
    members = [np.flatnonzero(sets == k) for k in protocol.SHARES]
    rows, targets = tf.constant(X), tf.constant(signs)

    def order(_):
        shuffled = [tf.random.shuffle(member) for member in members]
        return tf.data.Dataset.from_tensor_slices(tf.reshape(tf.stack(shuffled, axis=1), [-1]))

    # Batches of indices, gathered from tensors in memory: faster than numpy arrays or a row-wise shuffle.
    batches = tf.data.Dataset.range(1).flat_map(order).batch(options.batch)
    batches = batches.map(lambda i: (tf.gather(rows, i), tf.gather(targets, i))).prefetch(2)
    batches = batches.apply(tf.data.experimental.assert_cardinality(-(-len(X) // options.batch)))
    rate = 1e-3
    if options.decay:
        rate = keras.optimizers.schedules.InverseTimeDecay(rate, decay_steps=1, decay_rate=options.decay)
    model = network(X.shape[1])
    model.compile(
        optimizer=keras.optimizers.SGD(rate),
        loss=uu_risk,
        jit_compile=options.jit == "on",
        steps_per_execution=options.steps_per_execution,
    )
    model.fit(batches, epochs=protocol.FOREVER, verbose=0, callbacks=[Answer(options.precision)])


if __name__ == "__main__":
    parser = protocol.parser(__doc__)
    parser.add_argument("--decay", type=float, default=0.0, help="0 is the paper's at (.9, .1)")
    parser.add_argument("--jit", choices=["on", "off"], default="off", help="XLA")
    parser.add_argument("--steps-per-execution", type=int, default=1)
    main(parser.parse_args())
