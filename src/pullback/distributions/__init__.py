"""Probability distributions, by torch's names: samples, log-probabilities, entropies, divergences.

Families are imported on first access. Samples of `rsample` are differentiable functions of the parameters; those of
`sample` are not.
"""

from .._core import lazy as _lazy

__getattr__, __dir__, __all__ = _lazy.index(
    globals(),
    {
        "distribution": "Distribution ExponentialFamily",
        "continuous": "Cauchy Exponential Laplace Normal Uniform",
        "circular": "VonMises",
        "counts": "Multinomial NegativeBinomial",
        "discrete": "Bernoulli Binomial Categorical Geometric OneHotCategorical Poisson",
        "intervals": "ContinuousBernoulli GeneralizedPareto",
        "gamma": "Beta Chi2 Dirichlet FisherSnedecor Gamma StudentT",
        "lowrank": "LowRankMultivariateNormal",
        "matrices": "LKJCholesky Wishart",
        "multivariate": "Independent MixtureSameFamily MultivariateNormal",
        "transformed": (
            "Gumbel HalfCauchy HalfNormal InverseGamma Kumaraswamy LogNormal LogisticNormal Pareto "
            "TransformedDistribution Weibull"
        ),
        "relaxed": "OneHotCategoricalStraightThrough RelaxedBernoulli RelaxedOneHotCategorical",
        "transforms": (
            "AbsTransform AffineTransform ComposeTransform CumulativeDistributionTransform ExpTransform "
            "LowerCholeskyTransform PositiveDefiniteTransform PowerTransform SigmoidTransform SoftmaxTransform "
            "SoftplusTransform StickBreakingTransform TanhTransform Transform identity_transform"
        ),
        "axes": "IndependentTransform ReshapeTransform",
        "correlations": "CorrCholeskyTransform",
        "joined": "CatTransform StackTransform",
        "constraint_registry": "biject_to transform_to",
        "kl": "kl_divergence register_kl",
    },
    "constraints",
)
