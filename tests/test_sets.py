import numpy as np
import pytest
import scipy.sparse

from uulearn.priors import ClosePriorsWarning, Priors, Uncertain
from uulearn.sets import at_pooled_prior, generator, make_unlabeled_sets, match_sets, row_weight


class TestMatch:
    """Every row finds the share of its set."""

    @pytest.mark.parametrize(
        "labels", [(0, 1, 2), (-5, 3, 70), (0.5, 1.5, 2.5), ("a", "b", "c"), ("south", "west", "zoo")], ids=str
    )
    def test_mapping_or_sorted_sequence(self, labels):
        """A sequence is in the order of the sorted labels, a mapping in any; labels are of any kind."""
        y = np.array(labels)[[2, 0, 0, 1, 2]]
        mapping = dict(zip(reversed(labels), (0.2, 0.4, 0.9), strict=True))
        expected = [0.2, 0.9, 0.9, 0.4, 0.2]
        for given in (mapping, [0.9, 0.4, 0.2], (0.9, 0.4, 0.2), np.array([0.9, 0.4, 0.2])):
            sets = match_sets(y, given, 0.3)
            assert sets.share.tolist() == expected
            assert sets.labels.tolist() == list(labels)
            assert sets.sizes.tolist() == [2, 1, 2]
            assert sets.priors == Priors(mapping, prior=0.3)

    def test_priors_themselves(self):
        """`Priors` may be given whole: named sets by name, numbered ones in order, with what they opted for."""
        y = ["east", "west", "west"]
        named = match_sets(y, Priors({"west": 0.4, "east": 0.9}, prior=0.5, convex=True), 0.5)
        assert named.share.tolist() == [0.9, 0.4, 0.4]
        assert named.priors.convex
        numbered = match_sets(y, Priors(1.08, 0.4, prior=0.3, allow_out_of_range=True), 0.3)
        assert numbered.share.tolist() == [1.08, 0.4, 0.4]

    def test_weights(self):
        """n_k is the sum of the weights in set k; a row of weight 0 is as good as absent: its set may be unknown."""
        sets = match_sets(["b", "?", "a", "b", "zz"], {"a": 0.9, "b": 0.4}, 0.3, [2, 0, 0.5, 1, 0])
        assert sets.labels.tolist() == ["a", "b"]
        assert sets.sizes.tolist() == [0.5, 3]
        assert sets.share[[0, 2, 3]].tolist() == [0.4, 0.9, 0.4]

    def test_take(self):
        """Some of the rows keep their sets, weights and priors."""
        sets = match_sets([1, 0, 1, 0], (0.9, 0.4), 0.3, [1, 2, 3, 4])
        part = sets.take(np.array([3, 2, 2]))
        assert (part.share.tolist(), part.weight.tolist()) == ([0.9, 0.4, 0.4], [4, 3, 3])
        assert part.priors is sets.priors

    def test_pandas(self):
        """A column of strings or of categories names sets too, and an index the sets of a column of shares."""
        pd = pytest.importorskip("pandas")
        for column in (pd.Series(["u", "v", "u"]), pd.Series(["u", "v", "u"], dtype="category")):
            for given in ({"u": 0.9, "v": 0.4}, pd.Series({"v": 0.4, "u": 0.9})):
                assert match_sets(column, given, 0.3).share.tolist() == [0.9, 0.4, 0.9]

    def test_one_weight_for_all(self):
        """A single number weighs every row; none at all weighs each 1."""
        assert row_weight(2.5, 3).tolist() == [2.5] * 3
        assert row_weight(None, 3).tolist() == [1] * 3


N_POSITIVE, N_NEGATIVE = 60, 90
X = np.arange(300.0).reshape(150, 2)
Y = np.random.default_rng(0).permutation(np.repeat([1, 0], [N_POSITIVE, N_NEGATIVE]))


def positives(set_labels, indices, y=Y):
    """Positives of each set, in the order of the labels."""
    return [int((y[indices[set_labels == label]] == 1).sum()) for label in np.unique(set_labels)]


class TestDraw:
    """`make_unlabeled_sets` draws what it was asked for."""

    @pytest.mark.parametrize(
        ("shares", "sizes", "expected"),
        [
            ((0.9, 0.4), (40, 50), [36, 20]),
            ((0.4, 0.9), (50, 40), [20, 36]),
            ((0.0, 1.0, 0.5), (30, 20, 10), [0, 20, 5]),
            ((0.33, 0.66), (10, 10), [3, 7]),
        ],
    )
    def test_exact_counts(self, shares, sizes, expected):
        """Exactly share times size positives, rounded; no row twice; rows are those of the indices."""
        X_sets, labels, indices = make_unlabeled_sets(X, Y, shares, sizes, random_state=1)
        assert np.bincount(labels).tolist() == list(sizes)
        assert positives(labels, indices) == expected
        assert len(np.unique(indices)) == len(indices)
        assert X_sets.tolist() == X[indices].tolist()

    def test_random_counts(self):
        """counts="random" draws the positives of each set binomially: right in the mean and in the variance."""
        drawn = []
        for seed in range(400):
            _, labels, indices = make_unlabeled_sets(X, Y, (0.7, 0.2), (20, 30), counts="random", random_state=seed)
            assert np.bincount(labels).tolist() == [20, 30]
            drawn.append(positives(labels, indices))
        for found, n, share in zip(np.transpose(drawn), (20, 30), (0.7, 0.2), strict=True):
            variance = n * share * (1 - share)
            assert abs(found.mean() - n * share) < 4 * np.sqrt(variance / 400)
            assert found.var() == pytest.approx(variance, rel=4 * np.sqrt(2 / 400))

    def test_every_row_has_its_chance(self):
        """Rows of a class are drawn alike, into every set, and their order inside a set says nothing of their class."""
        seen, first = np.zeros((2, len(Y))), []
        for seed in range(600):
            _, labels, indices = make_unlabeled_sets(X, Y, (0.5, 0.25), (20, 40), random_state=seed)
            seen[labels, indices] += 1
            first.append(Y[indices[0]])
        for k, (n_positive, n_negative) in enumerate([(10, 10), (10, 30)]):
            expected = 600 * np.where(Y == 1, n_positive / N_POSITIVE, n_negative / N_NEGATIVE)
            assert np.abs(seen[k] - expected).max() < 5 * np.sqrt(expected.max())
        assert abs(np.mean(first) - 0.5) < 4 * 0.5 / np.sqrt(600)

    def test_uses_all_that_is_there(self):
        """Sets may take the last row of either class."""
        _, labels, indices = make_unlabeled_sets(X, Y, (0.8, 0.2), (50, 100), random_state=0)
        assert positives(labels, indices) == [40, 20]
        assert sorted(indices) == list(range(150))

    def test_mappings(self):
        """Named sets, in any order, are the numbered ones by another name."""
        _, labels, indices = make_unlabeled_sets(
            X, Y, {"rich": 0.9, "poor": 0.4}, {"poor": 50, "rich": 40}, random_state=3
        )
        _, numbered, same = make_unlabeled_sets(X, Y, (0.9, 0.4), (40, 50), random_state=3)
        assert labels.tolist() == np.array(["rich", "poor"])[numbered].tolist()
        assert indices.tolist() == same.tolist()

    def test_which_class_is_positive(self):
        """The larger label, or the one called positive."""
        names = np.where(Y == 1, "spam", "ham")
        _, labels, indices = make_unlabeled_sets(X, names, (0.9, 0.4), (40, 50), random_state=0)
        assert (names[indices[labels == 0]] == "spam").sum() == 36
        _, labels, indices = make_unlabeled_sets(X, names, (0.9, 0.4), (40, 50), positive="ham", random_state=0)
        assert (names[indices[labels == 0]] == "ham").sum() == 36

    @pytest.mark.parametrize(
        "seed", [5, lambda: np.random.default_rng(5), lambda: np.random.RandomState(5)], ids=["int", "new", "old"]
    )
    def test_determined_by_the_seed(self, seed):
        """The same seed draws the same rows; another, others."""
        draws = [
            make_unlabeled_sets(X, Y, (0.9, 0.4), (40, 50), random_state=seed() if callable(seed) else seed)[2]
            for _ in range(2)
        ]
        assert draws[0].tolist() == draws[1].tolist()
        assert draws[0].tolist() != make_unlabeled_sets(X, Y, (0.9, 0.4), (40, 50), random_state=6)[2].tolist()

    def test_a_generator_moves_on(self):
        """A generator is used, not copied: the next draw differs."""
        rng = generator(5)
        assert generator(rng) is rng
        draws = [make_unlabeled_sets(X, Y, (0.9, 0.4), (40, 50), random_state=rng)[2].tolist() for _ in range(2)]
        assert draws[0] != draws[1]

    def test_types_of_rows(self):
        """Rows come back as the type they came in: array, list, sparse matrix, data frame with columns and index."""
        draw = {"set_priors": (0.9, 0.4), "sizes": (40, 50), "random_state": 0}
        _, _, indices = make_unlabeled_sets(X, Y, **draw)
        sparse, _, same = make_unlabeled_sets(scipy.sparse.csr_matrix(X), Y, **draw)
        assert scipy.sparse.issparse(sparse)
        assert sparse.format == "csr"
        assert sparse.toarray().tolist() == X[indices].tolist()
        for form in ("coo", "csc", "lil"):
            other, _, _ = make_unlabeled_sets(scipy.sparse.csr_matrix(X).asformat(form), Y, **draw)
            assert np.array_equal(other.toarray(), X[indices])
        assert same.tolist() == indices.tolist()
        assert make_unlabeled_sets(X.tolist(), Y.tolist(), **draw)[0] == X[indices].tolist()
        pd = pytest.importorskip("pandas")
        frame, _, _ = make_unlabeled_sets(pd.DataFrame(X, columns=["u", "v"]), pd.Series(Y), **draw)
        assert frame.columns.tolist() == ["u", "v"]
        assert frame.index.tolist() == indices.tolist()
        assert frame.to_numpy().tolist() == X[indices].tolist()


class TestOverlap:
    """When a class runs out."""

    def test_refused_with_the_number(self):
        """The refusal says how many rows of which class are missing."""
        with pytest.raises(ValueError, match="ask for 90 positive rows and y holds 60: 30 are missing"):
            make_unlabeled_sets(X, Y, (0.9, 0.4), (60, 90))
        with pytest.raises(ValueError, match="ask for 91 negative rows and y holds 90: 1 are missing"):
            make_unlabeled_sets(X, Y, (0.3, 0.0), (70, 42))

    def test_allowed(self):
        """Only rows of the exhausted class are shared, no more than are missing, and no set holds a row twice."""
        _, labels, indices = make_unlabeled_sets(X, Y, (0.9, 0.4), (60, 90), overlap="allow", random_state=0)
        assert positives(labels, indices) == [54, 36]
        rows, times = np.unique(indices, return_counts=True)
        assert times.max() == 2
        assert (times == 2).sum() == 30
        assert np.all(Y[rows[times == 2]] == 1)
        assert set(np.flatnonzero(Y == 1)) <= set(indices)
        for k in (0, 1):
            assert len(np.unique(indices[labels == k])) == (labels == k).sum()

    def test_allowed_for_many_sets(self):
        """So too with more sets, where one may find the pool empty."""
        _, labels, indices = make_unlabeled_sets(X, Y, (0.9, 0.5, 0.4), (60, 60, 50), overlap="allow", random_state=0)
        assert positives(labels, indices) == [54, 30, 20]
        for k in range(3):
            assert len(np.unique(indices[labels == k])) == (labels == k).sum()
        assert set(np.flatnonzero(Y == 1)) <= set(indices)
        assert len(np.unique(indices[Y[indices] == 0])) == 6 + 30 + 30

    def test_not_needed(self):
        """While the rows last, allowing overlap changes nothing."""
        draws = [
            make_unlabeled_sets(X, Y, (0.9, 0.4), (40, 50), overlap=overlap, random_state=0)[2].tolist()
            for overlap in ("raise", "allow")
        ]
        assert draws[0] == draws[1]


def test_pooled_prior():
    """The target becomes the share of positives among all rows, by weight; all else stays as it was."""
    with pytest.warns(ClosePriorsWarning):
        sets = match_sets([0, 0, 1, 1], (Uncertain(0.52, 0.1), 0.48), 0.1, [1, 2, 0, 1])
    pooled = at_pooled_prior(sets)
    assert pooled.priors.prior == pytest.approx(0.75 * 0.52 + 0.25 * 0.48)
    assert pooled.priors.stated[0] == sets.priors.stated[0]
    assert pooled.index is sets.index
    assert pooled.weight is sets.weight
