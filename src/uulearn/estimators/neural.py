"""Neural networks from unlabeled sets: any torch module, trained on the corrected risk of its batches."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from uulearn._checks import number
from uulearn.calibration import fit_rising_link
from uulearn.estimators._base import UnlabeledClassifier, Weighting
from uulearn.losses import Loss, get
from uulearn.metrics import error
from uulearn.metrics.moments import group_index
from uulearn.refinement import check_rounds
from uulearn.risk import Columns, Correction, row_weights
from uulearn.sets import Sets, rematch_sets

try:
    import torch

    from uulearn.nn import distributed
    from uulearn.nn.arguments import check, labeled, make_plan
    from uulearn.nn.engine import Table, score
    from uulearn.nn.held_out import hold_out, units_of_sets
    from uulearn.nn.networks import Networks
    from uulearn.nn.plan import Chosen, Plan
    from uulearn.nn.progress import Bar
    from uulearn.nn.rows import Rows, column
    from uulearn.nn.sources import read
    from uulearn.nn.watch import Labeled, Record, Watch, check_finite, go_on
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"UUNeuralClassifier needs the extra 'torch' ({missing.name} is missing): pip install 'uulearn[torch]'."
    ) from missing

ENOUGH_TO_WARN = 30
"""Held-out rows of which one sort alone is suspicious."""
Callback = Callable[["UUNeuralClassifier", Record], Any]


@dataclass
class _Fitting:
    """What lives as long as one fit."""

    groups: ArrayLike | None
    test: Any
    bar: Bar
    plan: Plan = field(init=False)
    kept: Sets = field(init=False)
    held_out: Sets = field(init=False)
    labeled: Labeled | None = None
    start: Networks | None = None


class UUNeuralClassifier(UnlabeledClassifier):
    """Neural network trained from unlabeled sets whose shares of positives differ and are known.

    It minimises the corrected risk of Theorem 2 by batches that hold the sets in the ratio of their sizes. A share of
    the unlabeled rows is held out: their label-free error is reported for every epoch, picks the epoch whose network is
    kept, and calibrates the probabilities. No label is needed for any of it.

    Parameters
    ----------
    module : {"mlp", "allconv", "resnet32"}, torch.nn.Module or callable, default="mlp"
        One score a row. A module starts from the weights it has; a callable takes the shape of a row and makes a fresh
        one, such as ``functools.partial(uulearn.nn.models.MLP, hidden=(64, 64))``. Pickles hold `module` as it was
        given: a lambda cannot be pickled, a function at the top of a file can.
    set_priors : mapping or sequence
        Share of positives of each set: ``{set label: share}``, or shares in the order of the sorted set labels.
    prior : float
        Share of positives among the rows to be predicted.
    loss : {"sigmoid", "logistic", "squared", "ramp", "double_hinge"} or Loss, default="sigmoid"
    correction : {"none", "relu", "abs", "leaky"} or float, default="none"
        What acts on a part of the risk (of a batch, over all processes) that falls below zero.
    recipe : {"house", "paper"} or Recipe, default="house"
        Optimiser, learning rates, weight decay, epochs and batch size.
    epochs, batch_size : int, optional
        Go before what the recipe says.
    learning_rate, weight_decay : float or sequence of float, optional
        Likewise; a sequence has one for each member.
    members : int, default=1
        Networks with seeds of their own, trained together.
    combine : {"mean", "best"}, default="mean"
        Predict by the mean score of the members, or by the member with the least label-free error on the held-out rows.
    refine : int or "auto", optional
        Rounds of cross-fitted posterior refinement; the networks of all folds are trained together. By default what the
        recipe says: two rounds for "house" from 20,000 rows on, none for "paper".
    cv : int, default=2
        Folds of the cross-fitting ("auto" needs 3).
    convex : bool, default=False
        With more than two sets, ask for coefficients that keep every row convex.
    validation_fraction : float, default=0.1
        Share of the rows of each set that is held out, as one fold of 1 / validation_fraction; with 0, the last epoch
        is kept, and a loss that fixes no probability gives none.
    patience : int, optional
        Stop after so many epochs that are significantly worse than the best; by default train to the end.
    restore_best : bool, default=True
        Keep the network of the latest epoch whose label-free error is within one paired standard error of the least.
    image_shape : (channels, height, width), optional
        Shape of an image for rows that come flat; guessed for "allconv" and "resnet32".
    device : str, default="auto"
        "auto" is "cuda" where there is one, else "cpu".
    precision : {"auto", "bfloat16", "float32"}, default="auto"
        Of the matrix products; weights, norms and loss stay in float32. "auto" takes bfloat16 for large trainings where
        the hardware has it. It keeps 8 bits of a feature: standardise features far from zero.
    compile : bool or "auto", default="auto"
        Compile the training step; "auto" does for large trainings of networks that train side by side ("mlp", and
        modules of linear layers). Where it cannot be, training goes on without.
    checkpoint : path, optional
        Folder for the state after every epoch; needs `random_state`. The same fit, started again, goes on from there.
    progress : bool or "auto", default="auto"
        A bar on stderr; "auto" shows it on a terminal.
    callbacks : sequence of callable, default=()
        ``callback(classifier, record)`` after every epoch of the final training; a true return value ends it. Inside
        the callback the classifier predicts classes with the networks of that epoch.
    warm_start : bool, default=False
        Start the final training from the networks of the last fit.
    classes : pair, optional
        (negative, positive) labels that `predict` returns; (0, 1) by default, or the set labels if the set priors are
        exactly 0 and 1.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    history_ : list of dict
        For every epoch of the final training: "epoch", "loss", "seconds" and, with held-out rows, the label-free
        "error" with its standard error "error_se"; "test_error" if `fit` was given labelled rows.
    best_epoch_ : int
        The epoch whose network was kept.
    recipe_ : Recipe
        What was trained with.
    networks_ : Networks
        The trained networks of all members.
    best_member_ : int
        With combine="best", the member that predicts.
    classes_ : ndarray of shape (2,)
    set_labels_ : ndarray of shape (n_sets,)
    priors_ : Priors
        Shares in the order of `set_labels_`.
    n_rounds_, round_errors_
        As in `UULinearClassifier`.
    link_ : RisingLink
        From scores to log likelihood ratios of the classes, fitted on the held-out rows; absent without any.

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn import UUNeuralClassifier, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 4000)
    >>> X = rng.normal(size=(4000, 2)) + 3 * truth[:, None]
    >>> X_sets, sets, _ = make_unlabeled_sets(X, truth, (0.9, 0.4), (1500, 800), random_state=0)
    >>> clf = UUNeuralClassifier(set_priors={0: 0.9, 1: 0.4}, prior=0.3, epochs=5, random_state=0).fit(X_sets, sets)
    >>> clf.predict([[0.0, 0.0], [3.0, 3.0]])
    array([0, 1])
    """

    _cross_fits_scale = False

    def __init__(
        self,
        module: Any = "mlp",
        *,
        set_priors: Any,
        prior: float,
        loss: str | Loss = "sigmoid",
        correction: str | float | Correction = "none",
        recipe: Any = "house",
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | Sequence[float] | None = None,
        weight_decay: float | Sequence[float] | None = None,
        members: int = 1,
        combine: str = "mean",
        refine: int | str | None = None,
        cv: int = 2,
        convex: bool = False,
        validation_fraction: float = 0.1,
        patience: int | None = None,
        restore_best: bool = True,
        image_shape: Sequence[int] | None = None,
        device: str = "auto",
        precision: str = "auto",
        compile: bool | str = "auto",
        checkpoint: str | Path | None = None,
        progress: bool | str = "auto",
        callbacks: Sequence[Callback] = (),
        warm_start: bool = False,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.module = module
        self.set_priors = set_priors
        self.prior = prior
        self.loss = loss
        self.correction = correction
        self.recipe = recipe
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.members = members
        self.combine = combine
        self.refine = refine
        self.cv = cv
        self.convex = convex
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.restore_best = restore_best
        self.image_shape = image_shape
        self.device = device
        self.precision = precision
        self.compile = compile
        self.checkpoint = checkpoint
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.classes = classes
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        test: tuple[Any, ArrayLike] | None = None,
    ) -> Self:
        """Train from unlabeled sets.

        Parameters
        ----------
        X : array-like, tensor, numpy.memmap, torch Dataset, or path of a Parquet file or folder
            Rows of features, or images of shape (n_rows, channels, height, width). All but the first two are read as
            they are needed.
        y : array-like of shape (n_rows,) or str
            The set each row came from, or the column of a Parquet source that says so. Not a class: no row has a label.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row; the size of a set is its sum.
        groups : array-like of shape (n_rows,), optional
            Rows of one group stay together when rows are held out or split into folds; needed when sets share rows.
        test : (X, labels), optional
            Rows with true classes. They are only reported ("test_error" in `history_`): nothing is picked by them.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, groups, row_weights, test)

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """One more epoch on these rows, at the recipe's learning rate held constant.

        The first call starts the networks; later ones, or a call after `fit`, go on with them. Every call must bring
        rows of two sets or more. No row is held out.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like, optional
            At the first call: the labels of all sets, if some have no row yet. (scikit-learn calls what `y` may hold
            classes.)

        Returns
        -------
        self
        """
        check(self)
        distributed.start()
        first = not hasattr(self, "networks_")
        if first and self.combine == "best":
            raise ValueError(
                "combine='best' needs held-out rows to choose a member by, and partial_fit holds none out. Call fit "
                "first, or use combine='mean'."
            )
        y = self._column_of_sets(X, y)
        Z = self._read(X, reset=first)
        if first:
            sets = self._match(Z, y, sample_weight) if classes is None else self._match_all(classes)
            self._name(sets)
            self.n_rounds_, self.history_, self._slots, self._turns = 0, [], {}, 0
            self._seed = int(self._generator().integers(2**31))
        sets = rematch_sets(self._column(y, Z.shape[0]), self.set_labels_, self.priors_, sample_weight)
        plan = make_plan(self, Z, sets, self._seed, np.empty(0, dtype=np.intp))
        plan.compiled = self.compile is True
        rows = np.arange(len(sets.index))
        done = len(self.history_)
        trainer = plan.trainer(
            [plan.member(sets, rows, row_weights(sets))], epochs=done + 1, start=None if first else self.networks_
        )
        trainer.slots.update(self._slots)
        trainer.epoch, trainer.turns = done, self._turns
        record = {"epoch": done + 1, "loss": float(trainer.train_epoch().mean())}
        check_finite(record)
        self.history_.append(record)
        self.networks_, self._slots, self._turns = trainer.networks, trainer.slots, trainer.turns
        self.best_epoch_ = done + 1
        self.__dict__.pop("link_", None)  # of the scores as they were
        self.recipe_ = plan.recipe
        return self

    def member_scores(self, X: Any) -> NDArray[np.float32]:
        """Score of each row by each member: their spread says how sure the ensemble is.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        ndarray of shape (members, n_rows)
        """
        check_is_fitted(self, "networks_")
        return _scored(self.networks_, self._read(X, reset=False))

    def predict_proba(self, X: Any, prior: float | None = None) -> NDArray[Any]:
        """Probability of either class at the target prior, in the order of `classes_`.

        Parameters
        ----------
        X : as in `fit`
        prior : float, optional
            Share of positives among these rows, if it is not the target prior of the fit.

        Returns
        -------
        ndarray of shape (n_rows, 2)
        """
        check_is_fitted(self, "networks_")
        if self._probability(np.zeros(1)) is None and not hasattr(self, "link_"):
            raise ValueError(
                "predict_proba needs a loss that fixes probabilities, or a link fitted on held-out rows at the end of "
                f"fit; got loss={self.loss!r} and no link. Use loss='logistic', or fit, and not partial_fit, to the "
                "end with validation_fraction above 0."
            )
        return super().predict_proba(X, prior)

    # ---- reading -----------------------------------------------------------------------------------------------------

    networks_: Networks
    history_: list[Record]
    _slots: dict[str, torch.Tensor]
    _sets_column: str | None = None
    """The column of a Parquet source that named the sets: no feature."""

    def _column_of_sets(self, X: Any, y: Any) -> Any:
        if not isinstance(y, str):
            return y
        self._sets_column = y
        return column(X, y)

    def _read(self, X: Any, *, reset: bool) -> Rows:
        return read(self, X, reset=reset, aside=self._sets_column)

    def _take(self, Z: Any, rows: Chosen) -> Chosen:
        return rows

    def _match_all(self, labels: ArrayLike) -> Sets:
        return self._match_column(labels)

    def _name(self, sets: Sets) -> None:
        """What callbacks, and rows that come later, must know of the sets."""
        self.classes_, self.set_labels_, self.priors_ = self._class_names(sets), sets.labels, sets.priors
        for stale in ("link_", "best_member_"):
            self.__dict__.pop(stale, None)

    # ---- training ----------------------------------------------------------------------------------------------------

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        weighting: Weighting,
        test: Any = None,
    ) -> Self:
        check(self)
        if self.refine is not None:
            check_rounds(self.refine)
        distributed.start()
        self._sets_column = None
        y = self._column_of_sets(X, y)
        with Bar(self.progress) as bar:
            self._fitting = _Fitting(groups, test, bar)
            try:
                return super()._fit(X, y, sample_weight, groups, weighting)
            finally:
                del self._fitting

    def _rounds(self) -> int | str:
        return self._fitting.plan.recipe.refine if self.refine is None else self.refine

    def _generator(self) -> np.random.Generator:
        # Processes that train together must draw alike, even from no seed at all.
        return np.random.default_rng(distributed.agreed(int(super()._generator().integers(2**31))))

    def _begin(self, Z: Any, sets: Sets, rng: np.random.Generator) -> Any:
        fitting, seed = self._fitting, int(rng.integers(2**31))
        self._name(sets)
        units = np.arange(len(sets.index)) if fitting.groups is None else group_index(fitting.groups, len(sets.index))
        held_out = self._hold_out(sets, units, seed)
        weight = sets.weight.copy()
        weight[held_out] = 0.0
        fitting.held_out, fitting.kept = sets.take(held_out), replace(sets, weight=weight)
        least = min(len(own) for own in units_of_sets(fitting.kept, units))
        fitting.plan = make_plan(self, Z, fitting.kept, seed, held_out, least)
        fitting.labeled = labeled(self, fitting.test, fitting.plan.table)
        fitting.start = getattr(self, "networks_", None) if self.warm_start else None
        return Z

    def _trained_on(self, sets: Sets) -> Sets:
        return self._fitting.kept

    def _hold_out(self, sets: Sets, units: NDArray[np.intp], seed: int) -> Chosen:
        """Rows that are not trained on, or a refusal if something was to be judged by them."""
        fraction = number("validation_fraction", self.validation_fraction, low=0, high=0.5)
        held_out = hold_out(sets, units, fraction, seed)
        for name, value, idle in (("combine", self.combine, "mean"), ("patience", self.patience, None)):
            if value != idle and not len(held_out):
                raise ValueError(
                    f"{name}={value!r} needs held-out rows to judge by; got none. Use validation_fraction above 0 and "
                    f"two rows or more in every set (groups, where they are given), or {name}={idle!r}."
                )
        return held_out

    def _start_each(self, Z: Any, sets: Sets, parts: list[Chosen], weighting: Weighting) -> list[Networks]:
        return self._train_each(Z, sets, [(rows, weighting(sets.take(rows))) for rows in parts])

    def _train_each(self, Z: Any, sets: Sets, parts: list[tuple[Chosen, Columns]]) -> list[Networks]:
        """Networks on each selection of rows, all trained together; the last call of a fit is for all rows."""
        fitting, plan = self._fitting, self._fitting.plan
        selections = [plan.member(sets, rows, columns) for rows, columns in parts]
        final = len(parts) == 1 and len(parts[0][0]) == len(sets.index)
        trainer = plan.trainer(selections, epochs=plan.recipe.epochs, start=fitting.start if final else None)
        if final:
            watch = Watch(
                trainer,
                plan.held_out,
                fitting.held_out,
                test=fitting.labeled,
                patience=self.patience,
                after=lambda record: self._after(trainer.networks, record),
            )
            self.history_ = plan.run(trainer, selections, watch, fitting.bar, "training")
            self.best_epoch_ = watch.finish(restore=self.restore_best)
        else:
            name = "kept rows" if len(parts) == 1 else f"{len(parts)} folds"
            plan.run(trainer, selections, go_on, fitting.bar, name)
        every, members = range(len(trainer.networks)), len(plan.paces)
        return [trainer.networks.select(every[j : j + members]) for j in every[::members]]

    def _after(self, networks: Networks, record: Record) -> bool:
        self.networks_ = networks
        return any([bool(callback(self, record)) for callback in self.callbacks])  # each is called

    def _train(self, Z: Any, columns: Columns, total: float) -> Any:
        raise AssertionError("networks are trained by _train_each")

    def _model_scores(self, model: Networks, Z: Chosen) -> NDArray[Any]:
        return score(model, self._fitting.plan.table, Z).mean(axis=0).astype(float)

    def _install(self, model: Networks, Z: Any) -> None:
        plan, held_out = self._fitting.plan, self._fitting.plan.held_out
        self.networks_, self.recipe_, self._seed, self._slots = model, plan.recipe, plan.seed, {}
        self._turns = 0
        if not len(held_out):
            return
        sets, each = self._fitting.held_out, score(model, plan.table, held_out).astype(float)
        if self.combine == "best":
            self.best_member_ = int(np.argmin([error(sets, scores) for scores in each]))
            each = each[[self.best_member_]]
        self._warn_of_one_class(each.mean(axis=0))
        if not self._only_ranks():
            # These rows are few: what they say of the slopes is used, the sign of a score is left to the training.
            self.link_ = fit_rising_link(each.mean(axis=0), sets, free_shift=False)

    def _warn_of_one_class(self, scores: NDArray[np.float64]) -> None:
        classes = np.unique(scores > 0)
        if len(scores) >= ENOUGH_TO_WARN and len(classes) == 1:
            only = self.classes_[int(classes[0])].item()
            warnings.warn(
                f"Every held-out row is predicted {only!r}: training has found nothing, "
                "or the other class is very rare. Centre and scale X, give the module norm layers, or raise "
                "learning_rate or epochs.",
                stacklevel=6,  # of the call of fit
            )

    # ---- scores ------------------------------------------------------------------------------------------------------

    def _scores(self, Z: Rows) -> NDArray[Any]:
        check_is_fitted(self, "networks_")
        best = getattr(self, "best_member_", None)
        return _scored(self.networks_ if best is None else self.networks_.select([best]), Z).mean(axis=0)

    def _probability(self, scores: NDArray[Any]) -> NDArray[Any] | None:
        return get(self.loss).probability(scores)

    def __getstate__(self) -> Any:
        # A callback may pickle or copy the classifier in the middle of a fit.
        return {name: value for name, value in super().__getstate__().items() if name != "_fitting"}


def _scored(networks: Networks, Z: Rows) -> NDArray[np.float32]:
    return score(networks, Table(Z, networks.shape, torch.float32, networks.device), np.arange(Z.shape[0]))
