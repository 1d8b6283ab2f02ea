"""The formulas once more, as naive loops: one function an equation, slow and plain, sharing no code with the library.

A sample is a list of (weight, score) pairs; its mean weighs each score. A finite distribution is a sample whose
weights are the probabilities of its points, so the same loop gives an empirical risk and an exact expectation. A loss
is any function of one margin.
"""

import math
from itertools import product

import numpy as np
from scipy.optimize import minimize

# The losses, as they are written in papers. Stable only at moderate margins.
LOSSES = {
    "sigmoid": lambda z: 1 / (1 + math.exp(z)),
    "logistic": lambda z: math.log(1 + math.exp(-z)),
    "squared": lambda z: (1 - z) ** 2 / 4,
    "ramp": lambda z: max(0, min(1, (1 - z) / 2)),
    "double_hinge": lambda z: max(-z, 0, (1 - z) / 2),
    "zero_one": lambda z: 1 if z < 0 else 0 if z > 0 else 0.5,
}

CORRECTIONS = {
    "none": lambda part: part,
    "relu": lambda part: max(0, part),
    "abs": abs,
    "leaky": lambda part: part if part > 0 else -0.1 * part,
}


def mean(function, sample):
    """Weighted mean of function(score) over a sample."""
    total = mass = 0.0
    for weight, score in sample:
        total += weight * function(score)
        mass += weight
    return total / mass


def pn_risk(loss, positives, negatives, pi):
    """Eq. 6: pi E_P[loss(g)] + (1 - pi) E_N[loss(-g)]."""
    return pi * mean(loss, positives) + (1 - pi) * mean(lambda z: loss(-z), negatives)


def uu_risk(loss, rich, poor, theta, theta_prime, pi):
    """Eq. 9 and 10: E_U[a loss(g) + b loss(-g)] + E_U'[c loss(-g) + d loss(g)]."""
    a = (1 - theta_prime) * pi / (theta - theta_prime)
    b = -theta_prime * (1 - pi) / (theta - theta_prime)
    c = theta * (1 - pi) / (theta - theta_prime)
    d = -(1 - theta) * pi / (theta - theta_prime)
    return mean(lambda z: a * loss(z) + b * loss(-z), rich) + mean(lambda z: c * loss(-z) + d * loss(z), poor)


def symmetric_risk(loss, rich, poor, theta, theta_prime, pi):
    """Eq. 12: alpha E_U[loss(g)] + alpha' E_U'[loss(-g)] - constant, for losses with loss(z) + loss(-z) = 1."""
    alpha = (theta_prime + pi - 2 * theta_prime * pi) / (theta - theta_prime)
    alpha_prime = (theta + pi - 2 * theta * pi) / (theta - theta_prime)
    constant = (theta_prime * (1 - pi) + (1 - theta) * pi) / (theta - theta_prime)
    return alpha * mean(loss, rich) + alpha_prime * mean(lambda z: loss(-z), poor) - constant


def pu_risk(loss, positives, unlabeled, pi):
    """Unbiased positive-unlabeled risk: pi E_P[loss(g)] - pi E_P[loss(-g)] + E_U[loss(-g)]."""
    return pi * mean(lambda z: loss(z) - loss(-z), positives) + mean(lambda z: loss(-z), unlabeled)


def su_risk(loss, similar, unlabeled, pi):
    """Similar-unlabeled risk (Bao, Niu and Sugiyama 2018), with the members of the similar pairs as one sample."""
    similar_share = pi**2 + (1 - pi) ** 2
    from_similar = mean(lambda z: (loss(z) - loss(-z)) / (2 * pi - 1), similar)
    from_unlabeled = mean(lambda z: (pi * loss(-z) - (1 - pi) * loss(z)) / (2 * pi - 1), unlabeled)
    return similar_share * from_similar + from_unlabeled


def coefficients(theta, sizes, pi):
    """a and b of smallest sum a_k^2 / n_k and sum b_k^2 / n_k under the four conditions, by the pseudo-inverse."""
    theta, root = np.asarray(theta, dtype=float), np.sqrt(np.asarray(sizes, dtype=float))
    scaled = np.vstack([theta, 1 - theta]) * root
    return root * (np.linalg.pinv(scaled) @ [pi, 0]), root * (np.linalg.pinv(scaled) @ [0, 1 - pi])


def convex_coefficients(theta, sizes, pi):
    """The same with a_k + b_k >= 0 for every set, by sequential quadratic programming."""
    theta, n = np.asarray(theta, dtype=float), np.asarray(sizes, dtype=float) / np.sum(sizes)
    m = len(theta)
    conditions = np.zeros((4, 2 * m))
    conditions[0, :m], conditions[1, :m], conditions[2, m:], conditions[3, m:] = theta, 1 - theta, theta, 1 - theta
    targets = np.array([pi, 0, 0, 1 - pi])
    solution = minimize(
        lambda x: (x**2 / np.tile(n, 2)).sum(),
        np.concatenate(coefficients(theta, n, pi)),
        jac=lambda x: 2 * x / np.tile(n, 2),
        method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda x: conditions @ x - targets, "jac": lambda x: conditions},
            {"type": "ineq", "fun": lambda x: x[:m] + x[m:], "jac": lambda x: np.hstack([np.eye(m), np.eye(m)])},
        ],
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert solution.success, solution.message
    return solution.x[:m], solution.x[m:]


def corrected_risk(loss, correction, plus, minus, scores):
    """f(R_plus) + f(R_minus) of two columns of row weights."""
    r_plus = r_minus = 0.0
    for w_plus, w_minus, score in zip(plus, minus, scores, strict=True):
        r_plus += w_plus * loss(score)
        r_minus += w_minus * loss(-score)
    return correction(r_plus) + correction(r_minus)


def ccn_rates(theta, theta_prime):
    """Flip rates when the sets are read as noisy labels: rho_plus = 1 - theta, rho_minus = theta'."""
    return 1 - theta, theta_prime


def ccn_pooled_rates(n, n_prime, theta, theta_prime):
    """Flip rates that hold on the pooled rows."""
    positives = n * theta + n_prime * theta_prime
    negatives = n * (1 - theta) + n_prime * (1 - theta_prime)
    return n_prime * theta_prime / positives, n * (1 - theta) / negatives


def ccn_loss(loss, z, y, rho_plus, rho_minus):
    """Natarajan et al. 2013: ((1 - rho_{-y}) loss(y z) - rho_y loss(-y z)) / (1 - rho_plus - rho_minus)."""
    own, other = (rho_plus, rho_minus) if y == 1 else (rho_minus, rho_plus)
    return ((1 - other) * loss(y * z) - own * loss(-y * z)) / (1 - rho_plus - rho_minus)


def ccn_risk(loss, rich, poor, rho_plus, rho_minus):
    """Mean of that loss over all rows of both samples."""
    total = mass = 0.0
    for sample, y in ((rich, 1), (poor, -1)):
        for weight, score in sample:
            total += weight * ccn_loss(loss, score, y, rho_plus, rho_minus)
            mass += weight
    return total / mass


def biased_risk(loss, rich, poor):
    """Mean of loss(g) over the richer and of loss(-g) over the poorer sample, every row with the same say."""
    total = mass = 0.0
    for sample, y in ((rich, 1), (poor, -1)):
        for weight, score in sample:
            total += weight * loss(y * score)
            mass += weight
    return total / mass


def balanced_risk(loss, rich, poor):
    """Class-balanced risk of the set labels (Menon et al. 2015): either sample with half of all weight."""
    return 0.5 * mean(loss, rich) + 0.5 * mean(lambda z: loss(-z), poor)


def set_posterior(eta, k, theta, sizes, pi):
    """Lu et al. 2021: P(set k | x) = n_k (theta_k eta/pi + (1-theta_k)(1-eta)/(1-pi)) / the sum of that over sets."""
    likelihood = [n * (t * eta / pi + (1 - t) * (1 - eta) / (1 - pi)) for t, n in zip(theta, sizes, strict=True)]
    return likelihood[k] / sum(likelihood)


def set_cross_entropy(samples, theta, pi):
    """Mean of -log P(set k | x) over all samples, with eta = 1 / (1 + exp(-score))."""
    sizes = [sum(weight for weight, _ in sample) for sample in samples]
    total = 0.0
    for k, sample in enumerate(samples):
        for weight, score in sample:
            total -= weight * math.log(set_posterior(1 / (1 + math.exp(-score)), k, theta, sizes, pi))
    return total / sum(sizes)


def proportion_objective(labels, scores, bags, shares, size, C, C_p):
    """Yu et al. 2013: size (||w||^2 / 2) + C sum hinge(y f) + C_p sum_bags |p_bag(y) - p_bag|."""
    total = size
    for y, score in zip(labels, scores, strict=True):
        total += C * max(0, 1 - y * score)
    for bag, share in enumerate(shares):
        own = [y for y, b in zip(labels, bags, strict=True) if b == bag]
        total += C_p * abs(sum(y == 1 for y in own) / len(own) - share)
    return total


def proportion_labels(scores, bags, shares, C, C_p):
    """The least of that objective over every way to label the rows."""
    return min(
        proportion_objective(labels, scores, bags, shares, 0.0, C, C_p)
        for labels in product((-1, 1), repeat=len(scores))
    )


def rates(samples, a, b, pi):
    """True and false positive rate at cut 0: sum_k a_k / pi, and b_k / (1 - pi), times the share above the cut."""
    hit = alarm = 0.0
    for sample, a_k, b_k in zip(samples, a, b, strict=True):
        above = mean(lambda z: 1 if z > 0 else 0.5 if z == 0 else 0, sample)
        hit += a_k / pi * above
        alarm += b_k / (1 - pi) * above
    return hit, alarm


def auc(samples, a, b, pi):
    """Sum over all pairs of rows: weight as a positive, times weight as a negative, times 1, 1/2 (tie) or 0."""
    total = 0.0
    for k, sample in enumerate(samples):
        n_k = sum(weight for weight, _ in sample)
        for weight, score in sample:
            for j, other_sample in enumerate(samples):
                n_j = sum(w for w, _ in other_sample)
                for other_weight, other in other_sample:
                    wins = 1 if score > other else 0.5 if score == other else 0
                    total += a[k] / pi * weight / n_k * b[j] / (1 - pi) * other_weight / n_j * wins
    return total


def class_means(samples, a, b, pi, h):
    """E_P[h] = sum_k a_k / pi mean_k(h), and likewise E_N[h] with b_k / (1 - pi), of a function of a score."""
    positive = negative = 0.0
    for k, sample in enumerate(samples):
        mean = sum(weight * h(score) for weight, score in sample) / sum(weight for weight, _ in sample)
        positive += a[k] / pi * mean
        negative += b[k] / (1 - pi) * mean
    return positive, negative


def risk(samples, a, b, pi, as_positive, as_negative):
    """pi E_P[as_positive] + (1 - pi) E_N[as_negative] of functions of a score."""
    positive = class_means(samples, a, b, pi, as_positive)[0]
    return pi * positive + (1 - pi) * class_means(samples, a, b, pi, as_negative)[1]


def metrics(samples, a, b, pi):
    """Every label-free metric in closed form by name, from the samples of the sets and the coefficients.

    The probability of a score z is 1 / (1 + exp(-z)).
    """
    t, f = rates(samples, a, b, pi)
    precision = pi * t / (pi * t + (1 - pi) * f)

    def p(z):
        return 1 / (1 + math.exp(-z))

    return {
        "error": pi * (1 - t) + (1 - pi) * f,
        "balanced_error": ((1 - t) + f) / 2,
        "tpr": t,
        "fpr": f,
        "specificity": 1 - f,
        "precision": precision,
        "recall": t,
        "f1": 2 * precision * t / (precision + t),
        "negative_predictive_value": (1 - pi) * (1 - f) / ((1 - pi) * (1 - f) + pi * (1 - t)),
        "auc": auc(samples, a, b, pi),
        "log_loss": risk(samples, a, b, pi, lambda z: -math.log(p(z)), lambda z: -math.log(1 - p(z))),
        "brier": risk(samples, a, b, pi, lambda z: (1 - p(z)) ** 2, lambda z: p(z) ** 2),
        "cost": 5 * pi * (1 - t) + 2 * (1 - pi) * f,
        "logistic_risk": risk(
            samples, a, b, pi, lambda z: math.log(1 + math.exp(-z)), lambda z: math.log(1 + math.exp(z))
        ),
    }


def standard_errors(samples, a, b, pi, step=1e-6):
    """Infinitesimal jackknife: how much each metric moves with the weight of each row, by differences.

    sum over rows of n / (n - 1) (weight d metric / d weight)^2 with n the rows of the set, and its root.
    """
    variances = {}
    for k, sample in enumerate(samples):
        n = len(sample)
        for i, (weight, score) in enumerate(sample):
            moved = []
            for sign in (1, -1):
                changed = [list(rows) for rows in samples]
                changed[k][i] = (weight * (1 + sign * step), score)
                moved.append(metrics(changed, a, b, pi))
            for name in moved[0]:
                slope = (moved[0][name] - moved[1][name]) / (2 * step)
                variances[name] = variances.get(name, 0.0) + n / (n - 1) * slope**2
    return {name: math.sqrt(variance) for name, variance in variances.items()}


def membership_log_likelihood(samples, theta):
    """Mean log of P(set k | x) = n_k (theta_k L + 1 - theta_k) / sum_j n_j (theta_j L + 1 - theta_j).

    Here the samples are (weight, L) pairs.
    """
    sizes = [sum(weight for weight, _ in sample) for sample in samples]
    total = 0.0
    for sample, share, n in zip(samples, theta, sizes, strict=True):
        for weight, ratio in sample:
            mixture = n * (share * ratio + 1 - share)
            pooled = sum(n_j * (t * ratio + 1 - t) for n_j, t in zip(sizes, theta, strict=True))
            total += weight * math.log(mixture / pooled)
    return total / sum(sizes)


def error_bound(alpha, alpha_prime, n, n_prime, rademacher, rademacher_prime, lipschitz, loss_bound, delta):
    """Theorem 3: 4 L alpha Rad + 4 L alpha' Rad' + 2 C sqrt(ln(2/delta)/2) (alpha/sqrt n + alpha'/sqrt n')."""
    complexity = 4 * lipschitz * alpha * rademacher + 4 * lipschitz * alpha_prime * rademacher_prime
    chi = alpha / math.sqrt(n) + alpha_prime / math.sqrt(n_prime)
    return complexity + 2 * loss_bound * math.sqrt(math.log(2 / delta) / 2) * chi
