import numpy as np
import pytest
from scipy.special import logit
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit

from uulearn.calibration import fit_link, membership_loss, posterior
from uulearn.metrics import error, error_difference
from uulearn.refinement import AUTO_ROUNDS, Steps, check_rounds, refine, split
from uulearn.risk import posterior_weights, reduced, row_weights
from uulearn.sets import match_sets

N = 240
RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat([0, 1, 2], [120, 80, 40]))
SETS = match_sets(Y, (0.9, 0.4, 0.2), 0.3, RNG.uniform(0.5, 2, N))
SCORES = np.where(RNG.random(N) < SETS.share, 1.0, -1.0) + RNG.normal(size=N)


class Recorder:
    """A toy model: a pair (round, rows it saw) that scores with what its round is told to give.

    The round is read off the columns: log(plus / minus) is a line in the scores of the round before, in each set.
    `log` holds what was done in order: ("fit", model, columns) and ("score", model, rows).
    """

    def __init__(self, by_round):
        self.by_round, self.log = by_round, []

    def start(self, parts):
        models = [(0, rows) for rows in parts]
        self.log += [("fit", model, None) for model in models]
        return models

    def train(self, parts):
        return [self.train_one(rows, columns) for rows, columns in parts]

    def train_one(self, rows, columns):
        line = np.log(columns.plus / columns.minus) - logit(SETS.share[rows])
        fits = [abs(np.corrcoef(line, scores[rows])[0, 1]) for scores in self.by_round]
        assert max(fits) == pytest.approx(1, abs=1e-6)
        model = 1 + int(np.argmax(fits)), rows
        self.log.append(("fit", model, columns))
        return model

    def score(self, model, rows):
        self.log.append(("score", model, rows))
        return self.by_round[model[0]][rows]

    def refine(self, rounds, scores_needed=True, folds=lambda: FOLDS):
        return refine(Steps(self.start, self.train, self.score), SETS, rounds, folds, scores_needed=scores_needed)

    @property
    def fits(self):
        return [(model, columns) for what, model, columns in self.log if what == "fit"]

    @property
    def scored(self):
        return [(model, rows) for what, model, rows in self.log if what == "score"]


GOOD, BAD, NOISE, TAIL = SCORES, -(SCORES**3), RNG.normal(size=N), RNG.normal(size=N)
FOLDS = split(SETS, 4, None, 0)


def no_folds():
    raise AssertionError("folds were made that nobody needs")


class TestRefine:
    """Which models are trained, on what, and which rows they score."""

    @pytest.mark.parametrize("scores_needed", [False, True])
    @pytest.mark.parametrize("rounds", [0, 1, 2, 3])
    def test_calls(self, rounds, scores_needed):
        """A round costs one fit a fold; scores of rows that no round saw, all rounds again without each fold."""
        recorder = Recorder([NOISE, BAD, GOOD, TAIL])
        result = recorder.refine(rounds, scores_needed)
        expected = [turn for turn in range(rounds) for _ in FOLDS]
        if scores_needed:
            expected += [*[turn for turn in range(rounds) for _ in FOLDS[1:]], rounds] * len(FOLDS)
        expected.append(rounds)
        assert [turn for (turn, _), _ in recorder.fits] == expected
        assert [turn for (turn, _), _ in recorder.scored] == expected[:-1]
        assert result.model is recorder.fits[-1][0]
        assert result.model[1].tolist() == list(range(N))
        assert (result.rounds, result.errors) == (rounds, ())
        if scores_needed:
            assert result.out_of_fold.tolist() == recorder.by_round[rounds].tolist()
        else:
            assert result.out_of_fold is None

    def test_no_folds_without_need(self):
        """Without refinement and without need of scores, one model is started on all rows and no folds are made."""
        recorder = Recorder([GOOD])
        recorder.refine(0, scores_needed=False, folds=no_folds)
        assert (len(recorder.fits), len(recorder.scored)) == (1, 0)

    @pytest.mark.parametrize("rounds", [0, 1, 2, "auto"])
    def test_out_of_fold(self, rounds):
        """No model ever scores a row that it saw, and in the end every row has one score a round."""
        recorder = Recorder([BAD, NOISE, GOOD, TAIL])
        rounds = recorder.refine(rounds).rounds
        for (_, seen), rows in recorder.scored:
            assert not set(seen) & set(rows)
        for turn in range(rounds + 1):
            last = [rows for (at, _), rows in recorder.scored if at == turn][-len(FOLDS) :]
            assert np.sort(np.concatenate(last)).tolist() == list(range(N))

    def test_columns(self):
        """A round trains on the posterior of each row inside its set, from the scores of the round before."""
        recorder = Recorder([NOISE, GOOD, TAIL])
        recorder.refine(2, scores_needed=False)
        trained = iter([(rows, columns) for (turn, rows), columns in recorder.fits if turn])
        for scores, fold_rows in ((NOISE, [train for train, _ in FOLDS]), (GOOD, [np.arange(N)])):
            q = posterior(fit_link(scores, SETS).log_ratio(scores), SETS.share)
            for expected_rows in fold_rows:
                rows, columns = next(trained)
                assert rows.tolist() == expected_rows.tolist()
                expected = posterior_weights(q[rows], SETS.take(rows))
                assert np.array(columns) == pytest.approx(np.array(expected), rel=1e-12)
                assert min(columns.plus.min(), columns.minus.min()) >= 0
                assert (columns.plus.sum(), columns.minus.sum()) == pytest.approx((0.3, 0.7))
        assert next(trained, None) is None


class TestAuto:
    """refine="auto" chooses the rounds on rows that nothing saw."""

    @pytest.mark.parametrize("best", range(AUTO_ROUNDS + 1))
    def test_takes_the_least_error(self, best):
        """It takes the number of rounds of least label-free error on the first fold, then refines all rows."""
        by_round = [BAD, -NOISE, -SCORES, -TAIL][: AUTO_ROUNDS + 1]
        by_round[best] = GOOD
        recorder = Recorder([*by_round, TAIL])
        result = recorder.refine("auto")
        judged = FOLDS[0][1]
        assert result.errors == pytest.approx([error(SETS.take(judged), scores[judged]) for scores in by_round])
        assert result.rounds == np.argmin(result.errors) == best
        assert result.out_of_fold.tolist() == GOOD.tolist()
        assert result.model is recorder.fits[-1][0]
        assert result.model[0] == best
        assert result.model[1].tolist() == list(range(N))

    def test_nothing_saw_the_judges(self):
        """Until the rounds are judged no model has seen the first fold, nor have the models behind its weights."""
        recorder = Recorder([BAD, NOISE, GOOD, TAIL])
        result = recorder.refine("auto")
        kept, judged = FOLDS[0]
        verdicts = [
            i for i, (what, _, rows) in enumerate(recorder.log) if what == "score" and np.array_equal(rows, judged)
        ][: AUTO_ROUNDS + 1]
        assert [recorder.log[i][1][0] for i in verdicts] == list(range(AUTO_ROUNDS + 1))
        for what, (_, seen), _ in recorder.log[: verdicts[-1] + 1]:
            assert what == "score" or not set(seen) & set(judged)
        inner = AUTO_ROUNDS * (len(FOLDS) - 1) + AUTO_ROUNDS + 1
        unseen = len(FOLDS) * ((len(FOLDS) - 1) * result.rounds + 1)
        assert len(recorder.fits) == inner + len(FOLDS) * result.rounds + unseen + 1
        assert len(kept) + len(judged) == N

    def test_in_doubt_the_likeliest(self):
        """Of the rounds within one paired standard error of the least error, that of the likeliest memberships."""
        judged = FOLDS[0][1]
        rich = judged[Y[judged] == 0]
        rich = rich[np.argsort(SETS.weight[rich])]
        hits, misses = (rich[np.sign(SCORES[rich]) == sign] for sign in (1, -1))
        part, seen = SETS.take(judged), set()
        for wrong, right, near in ((0, 0, True), (2, 1, True), (9, 1, False)):
            flipped = np.concatenate([hits[:wrong], misses[:right]])
            later = np.where(np.isin(np.arange(N), flipped), -SCORES, SCORES)
            excess, standard_error = error_difference(part, later[judged], SCORES[judged])
            assert (excess <= standard_error) == near
            for powers in ((1, 0.02, 1.5), (0.02, 1, 1.5), (0.02, 1.5, 1)):
                # Another power keeps the signs, which are all that errors see, and changes the likelihood.
                rounds = [
                    np.sign(scores) * np.abs(scores) ** power
                    for scores, power in zip((SCORES, later, later), powers, strict=True)
                ]
                unlikely = [
                    membership_loss(fit_link(scores[judged], part).log_ratio(scores[judged]), part)[0]
                    for scores in rounds
                ]
                chosen = Recorder(rounds).refine("auto", scores_needed=False).rounds
                assert chosen == (int(np.argmin(unlikely)) if near else 0)
                seen.add(chosen)
        assert seen == {0, 1, 2}


def test_refinement_helps():
    """From a poor first model, of every tenth row, a round that learns from posteriors lowers the true error."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [1500, 800])
    truth = rng.random(2300) < np.array([0.9, 0.4])[y]
    X = np.column_stack([rng.normal(size=(2300, 20)) + 0.4 * truth[:, None], np.ones(2300)])
    sets = match_sets(y, (0.9, 0.4), 0.3)

    def least_squares(rows, columns):
        """Minimises the squared loss of the columns, up to a constant and a little ridge."""
        total, pull = columns.plus + columns.minus, columns.plus - columns.minus
        return np.linalg.solve(X[rows].T @ (total[:, None] * X[rows]) + 1e-6 * np.eye(21), X[rows].T @ pull)

    def start(parts):
        return [least_squares(rows[::10], reduced(row_weights(sets.take(rows[::10])))) for rows in parts]

    def train(parts):
        return [least_squares(*part) for part in parts]

    steps = Steps(start, train, lambda model, rows: X[rows] @ model)
    target = np.where(truth, 0.3 / truth.sum(), 0.7 / (~truth).sum())
    errors = []
    for rounds in (0, 1, 2):
        found = refine(steps, sets, rounds, lambda: split(sets, 5, None, 0), scores_needed=True).out_of_fold
        errors.append(float(target @ ((found > 0) != truth)))
    assert errors[1] < 0.9 * errors[0]
    assert errors[2] < 0.9 * errors[0]


class TestSplit:
    """Folds: every row tested once, every set in each, each group in one."""

    @pytest.mark.parametrize("cv", [2, 5])
    def test_partition(self, cv):
        """Training and test rows of a fold are all rows; each row is tested once; sets are spread evenly."""
        found = split(SETS, cv, None, 0)
        assert len(found) == cv
        assert np.sort(np.concatenate([test for _, test in found])).tolist() == list(range(N))
        for train, test in found:
            assert np.sort(np.concatenate([train, test])).tolist() == list(range(N))
            counts = np.bincount(SETS.index[test])
            assert np.all(np.abs(counts - np.array([120, 80, 40]) / cv) <= 1)

    def test_seed(self):
        """Folds are shuffled, and the seed says how."""
        tests = [np.concatenate([test for _, test in split(SETS, 3, None, seed)]).tolist() for seed in (0, 0, 1)]
        assert tests[0] == tests[1] != tests[2]

    def test_groups(self):
        """Rows of one group stay together, also where its rows are in different sets."""
        groups = np.random.default_rng(0).permutation(np.arange(N) // 3)
        assert any(len(np.unique(Y[groups == group])) > 1 for group in groups)
        found = split(SETS, 4, groups, 0)
        assert len(found) == 4
        for train, test in found:
            assert not set(groups[train]) & set(groups[test])
            assert set(SETS.index[train]) == {0, 1, 2}
        apart = split(SETS, 4, None, 0)
        assert any(set(groups[train]) & set(groups[test]) for train, test in apart)

    def test_few_rows(self):
        """A set of fewer rows than folds makes for fewer folds, so that none trains without it."""
        sets = match_sets([0] * 10 + [1] * 3, (0.9, 0.4), 0.3)
        found = split(sets, 5, None, 0)
        assert len(found) == 3
        assert all(set(sets.index[train]) == set(sets.index[test]) == {0, 1} for train, test in found)

    @pytest.mark.parametrize(
        ("groups", "folds"),
        [
            (np.arange(24) % 4, 4),
            (np.where(np.arange(24) < 12, np.arange(24), 100 + np.arange(24) % 3), 3),
            (np.where(np.arange(24) < 12, np.arange(24) % 2, np.arange(24)), 2),
        ],
        ids=["across sets", "of the second set", "of the first set"],
    )
    def test_few_groups(self, groups, folds):
        """Fewer groups than folds, in all sets or in one of them, make for fewer folds."""
        sets = match_sets(np.repeat([0, 1], 12), (0.9, 0.4), 0.3)
        found = split(sets, 5, groups, 0)
        assert len(found) == folds
        for train, test in found:
            assert not set(groups[train]) & set(groups[test])

    def test_own_splitter(self):
        """A splitter, or a list of folds, is taken at its word."""
        expected = [test.tolist() for _, test in KFold(3).split(Y)]
        for cv in (KFold(3), list(KFold(3).split(Y)), PredefinedSplit(np.arange(N) // 80)):
            assert [test.tolist() for _, test in split(SETS, cv, None, 0)] == expected
        groups = np.arange(N) % 7
        for train, test in split(SETS, GroupKFold(3), groups, 0):
            assert not set(groups[train]) & set(groups[test])


def test_rounds():
    """A whole number of rounds, or "auto"."""
    assert [check_rounds(rounds) for rounds in (0, 3, np.int64(2), "auto")] == [0, 3, 2, "auto"]


def test_perfect_scores_give_labels():
    """With labels (shares 1 and 0) the posterior weights are the class weights, whatever the scores."""
    sets = match_sets([1, 1, 0, 0], (0, 1), 0.3)
    q = posterior(np.array([-3.0, 3.0, -3.0, 3.0]), sets.share)
    assert np.array(posterior_weights(q, sets)) == pytest.approx(np.array([[0.15, 0.15, 0, 0], [0, 0, 0.35, 0.35]]))


def test_first_models_are_for_the_folds_alone():
    """They score the folds before the first round; what is handed out, and any later round, never is one of them."""
    sets = match_sets(["U"] * 6 + ["V"] * 6, {"U": 0.9, "V": 0.4}, 0.3)
    calls = []

    def trained(name):
        def train(parts):
            calls.append((name, len(parts)))
            return [name for _ in parts]

        return train

    def score(model, rows):
        return np.where(sets.index[rows] == 0, 1.0, -1.0)

    steps = Steps(trained("start"), trained("again"), score, trained("first"))
    for rounds, expected in (
        (0, [("start", 1)]),
        (1, [("first", 3), ("again", 1)]),
        (2, [("first", 3), ("again", 3), ("again", 1)]),
    ):
        calls.clear()
        refine(steps, sets, rounds, lambda: split(sets, 3, None, seed=0), scores_needed=False)
        assert calls == expected
    calls.clear()
    refine(steps, sets, "auto", lambda: split(sets, 3, None, seed=0), scores_needed=False)
    assert calls[0] == ("first", 2)
    assert ("start", 1) in calls


@pytest.mark.parametrize("folds", [[], list(KFold(3).split(np.zeros(N + 30)))], ids=["none", "of more rows"])
def test_folds_of_other_rows_are_refused(folds):
    """In a sentence that names both."""
    with pytest.raises(ValueError, match=f"cv must give folds of these {N} rows; got {len(folds)} folds"):
        split(SETS, folds, None, 0)
