"""Calls of SciPy and scikit-learn on tensors: of each, whether values and gradients are right, or what it is refused with.

`python -m tests.interop.calls` prints the table. A call is an expression; the names of INPUTS in it are what gradients are
taken with respect to, those of CONSTANTS are arrays of the same kind without gradients. Calls are tried under `no_escapes`
and `strong_zeros`, and those that are not right then once more under `numpy_programs("scipy")`.
"""

import ast
import sys
import warnings
from collections import Counter

import numpy as np

import pullback
import pullback.interop.scipy

pullback.interop.scipy.enable()

import scipy  # noqa: E402
import scipy.cluster.vq  # noqa: E402
import scipy.optimize.elementwise  # noqa: E402
import scipy.spatial.distance  # noqa: E402

SERIES = np.array([0.3, 1.2, -0.4, 0.8, 2.1, 0.1, -1.3, 0.6, 1.9, -0.2, 0.4, 1.1])
_draw = np.random.default_rng(0)
INPUTS = {
    "x": np.array([0.7, 1.3, 0.4, 2.2, 1.6]), "y": np.array([1.1, 0.5, 1.9, 0.8, 1.4]),
    "u": np.array([0.15, 0.35, 0.6, 0.85, 0.5]), "p": np.array([0.1, 0.2, 0.3, 0.15, 0.25]),
    "q": np.array([0.2, 0.25, 0.1, 0.3, 0.15]), "s": SERIES, "r": np.cos(SERIES * 3) + SERIES[::-1] * 0.4,
    "a": np.array(0.7), "b": np.array(1.6), "v": np.array([0.3, -0.5, 0.8]),
    "M": np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.1]]), "N": _draw.normal(size=(3, 3)),
    "A": _draw.normal(size=(8, 3)), "B": _draw.normal(size=(5, 3)), "z": _draw.normal(size=8),
    "P": np.abs(_draw.normal(size=(8, 3))) + 0.2, "c": _draw.uniform(0.1, 0.9, size=8),
}  # fmt: skip
CONSTANTS = {
    "t": np.arange(12.0), "g": np.linspace(0.0, 2.0, 5), "k": np.array([0, 1, 0, 1, 1, 0, 1, 0]),
    "K": np.array([0, 1, 2, 1, 2, 0, 1, 0]), "f": np.array([0.2, 0.5, 0.3]), "w": np.array([1.0, 2.0, 0.5, 1.5, 1.0]),
    "W": np.array([1.0, 2.0, 0.5, 1.5, 1.0, 0.7, 1.2, 0.9]), "zero": np.array(0.0), "three": np.array(3.0),
}  # fmt: skip

SPECIAL = """erf(x) erfc(x) erfinv(u) gammaln(x) gamma(x) digamma(x) polygamma(1,x) gammainc(x,y) gammaincc(x,y) betainc(x,y,u)
betaln(x,y) beta(x,y) xlogy(x,y) xlog1py(x,y) entr(p) rel_entr(p,q) kl_div(p,q) logit(u) expit(x) log_expit(x) logsumexp(x)
softmax(x) log_softmax(x) ndtr(x) ndtri(u) log_ndtr(x) i0(x) i0e(x) i1(x) i1e(x) j0(x) j1(x) y0(x) k0(x) k1e(x) zeta(x+1.5,y)
sinc(x) exp2(x) exp10(x) log1p(x) expm1(x) cbrt(x) multigammaln(x+1,2) stdtr(x,y) stdtrit(x,u) chdtr(x,y) chdtrc(x,y) fdtr(x,y,u)
gdtr(x,y,u) boxcox(x,0.3) inv_boxcox(x,0.3) huber(1.0,x) pseudo_huber(x,y) ellipk(u) ellipe(u) lambertw(x) jv(1.5,x)
hyp2f1(1.0,2.0,3.0,u) dawsn(x) owens_t(x,y) rgamma(x) bdtr(2.0,5,u) nbdtr(2,5,u) erfcx(x) exp1(x) expi(x) sici(x) fresnel(x)
spherical_jn(1,x) legendre_p(2,u)"""
MODULES = {
    "optimize": """elementwise.find_root(lambda h,d:h**3-d,(zero,three),args=(a,)).x
        elementwise.find_minimum(lambda h,d:(h-d)**2,(zero,zero+1,three),args=(b,)).x rosen(x) rosen_der(x) rosen_hess(x)
        minimize_scalar(lambda h:(h-a)**2+h**4).x minimize(lambda h:((h-x)**2).sum(),np.zeros(5)).x
        root_scalar(lambda h:h**3-a,bracket=(0,3)).root brentq(lambda h:h**3-a,0,3) newton(lambda h:h**3-a,1.0)
        approx_fprime(x,lambda h:(h**2).sum()) curve_fit(lambda h,d:d*h,t,s)[0] nnls(P,z**2)[0] linear_sum_assignment(P)[0]
        fixed_point(lambda h:np.cos(h)*a,0.5) least_squares(lambda h:h-x,np.zeros(5)).x
        elementwise.bracket_root(lambda h,d:h-d,zero,args=(a,)).bracket""",
    "differentiate": "derivative(lambda h:h**3,a).df jacobian(lambda h:h**2,x).df hessian(lambda h:(h**3).sum(axis=0),v).ddf",
    "integrate": """trapezoid(x,g) trapezoid(x,dx=0.3) simpson(x,g) simpson(x,dx=0.3) cumulative_trapezoid(x,g)
        cumulative_simpson(x,dx=0.3) tanhsinh(lambda h,d:h**2*d,zero,three,args=(a,)).integral quad(lambda h:h*a,0,1)[0]
        quad_vec(lambda h:h*x,0,1)[0] fixed_quad(lambda h:h**2*a,0,1)[0] romb(x,dx=0.5)
        solve_ivp(lambda h,d:-a*d,(0,1),[1.0]).y[:,-1] odeint(lambda d,h:-a*d,1.0,[0.0,1.0])
        cubature(lambda h:h[:,0]**2,zero+np.zeros(1),b*np.ones(1)).estimate nsum(lambda h:a/h**3,1,20).sum""",
    "interpolate": """CubicSpline(g,x)(0.7) BarycentricInterpolator(g,x)(0.7) KroghInterpolator(g,x)(0.7) PchipInterpolator(g,x)(0.7)
        Akima1DInterpolator(g,x)(0.7) make_interp_spline(g,x)(0.7) interp1d(g,x)(0.7) BSpline(t,s[:8],3)(u+4)
        RBFInterpolator(A,z)(A[:2]+0.1) LinearNDInterpolator(A[:,:2],z)(A[:1,:2]) RegularGridInterpolator((g,),x)(u[:,None])
        lagrange(g,x)(0.7) AAA(g,x)(0.7) griddata(g,x,0.7)""",
    "signal": """convolve(s,v) convolve(s,v,method="direct") fftconvolve(s,v) correlate(s,v) oaconvolve(s,v) welch(s,nperseg=6)[1]
        periodogram(s)[1] csd(s,r,nperseg=6)[1] coherence(s,r,nperseg=6)[1] stft(s,nperseg=6)[2] spectrogram(s,nperseg=6)[2]
        lfilter(f,zero+np.ones(1),s) lfilter(v,zero+np.ones(1),s) sosfilt(np.ones((1,6)),s) filtfilt(f,np.ones(1),s)
        detrend(s) detrend(s,type="constant") hilbert(s) envelope(s) resample(s,8) resample_poly(s,2,3) decimate(s,2) savgol_filter(s,5,2)
        medfilt(s) wiener(s) butter(2,a*0.5) freqz(v)[1] firwin(5,a*0.5) chirp(t,a,3.0,b) gausspulse(t*0.01) sawtooth(s) square(s)
        deconvolve(s,v)[0] zoom_fft(s,[0.1,0.4]) czt(s) bilinear(v,f) tf2zpk(v,f)[0] lombscargle(t,s,g+0.5) upfirdn(v,s,2)
        residue(v,f)[0] windows.gaussian(5,a) unit_impulse(5)*a""",
    "stats": """zscore(x) zmap(x,y) gmean(x) hmean(x) pmean(x,2.5) skew(x) kurtosis(x) moment(x,3) variation(x) sem(x) describe(x).variance
        entropy(p) entropy(p,q) differential_entropy(x) circmean(x) circvar(x) circstd(x) directional_stats(P).mean_direction
        ttest_ind(x,y).statistic ttest_ind(x,y).pvalue ttest_rel(x,y).statistic ttest_1samp(x,0.5).pvalue pearsonr(x,y).statistic
        pearsonr(x,y).pvalue spearmanr(x,y).statistic kendalltau(x,y).statistic linregress(g,x).slope f_oneway(x,y).statistic
        bartlett(x,y).statistic levene(x,y).statistic jarque_bera(s).statistic skewtest(s).statistic kurtosistest(s).statistic
        normaltest(s).pvalue chisquare(p,q*p.sum()/q.sum()).statistic power_divergence(p,q*p.sum()/q.sum(),lambda_="log-likelihood").statistic
        combine_pvalues(u).statistic combine_pvalues(u).pvalue tmean(x) tvar(x) tstd(x) trim_mean(s,0.1) iqr(x) expectile(x,0.3) lmoment(s)
        boxcox_llf(0.3,x) yeojohnson_llf(0.3,x) boxcox(x)[0] yeojohnson(s)[0] norm.logpdf(x,loc=a,scale=b) norm.cdf(x,loc=a,scale=b) norm.ppf(u)
        t.logpdf(x,3.0) gamma.logpdf(x,2.0) beta.logpdf(u,2.0,3.0) expon.sf(x) multivariate_normal.logpdf(v,f,M) gaussian_kde(s)(0.4)
        wasserstein_distance(x,y) energy_distance(x,y) bootstrap((s,),np.mean).standard_error mannwhitneyu(x,y).statistic ks_2samp(x,y).statistic
        wilcoxon(x,y).statistic kruskal(x,y).statistic anderson_ksamp([x,y]).statistic shapiro(s).statistic quantile(x,0.3) sigmaclip(s)[0] obrientransform(x,y)
        ttest_ind_from_stats(a,1.0,5,b,1.2,6).statistic alexandergovern(x,y).statistic xi_correlation(x,y).statistic rankdata(x) mode(x).mode
        false_discovery_control(u) median_abs_deviation(x) theilslopes(x,g)[0] Normal(mu=a,sigma=b).logpdf(x) monte_carlo_test(x,np.random.default_rng(0).normal,np.mean).statistic""",
    "spatial": """distance.cdist(A,B) distance.pdist(B) distance.euclidean(x,y) distance.cosine(x,y) distance.correlation(x,y)
        distance.jensenshannon(p,q) distance.minkowski(x,y,3) distance.sqeuclidean(x,y) distance.mahalanobis(v,f,M) distance.canberra(x,y)
        distance.braycurtis(x,y) distance.chebyshev(x,y) distance.cityblock(x,y) distance.directed_hausdorff(A,B)[0] distance.squareform(s[:6])
        transform.Rotation.from_rotvec(v).apply(f) transform.Rotation.from_euler("xyz",v).as_matrix() transform.Rotation.from_quat(x[:4]).as_rotvec()
        transform.Rotation.from_matrix(M).as_quat() transform.Slerp([0,1],transform.Rotation.from_rotvec(B[:2]))(0.3).as_quat() procrustes(A,P)[2]
        geometric_slerp(v/np.sqrt((v**2).sum()),f/np.sqrt((f**2).sum()),[0.3]) ConvexHull(A).volume KDTree(A).query(B)[0] minkowski_distance(A[:5],B)""",
    "linalg": """expm(N) sqrtm(M) logm(M) det(M) inv(M) solve(M,v) lstsq(A,z)[0] pinv(N) svd(N)[1] svdvals(N) eigh(M)[0] eigvalsh(M) eigvals(M)
        cholesky(M) qr(N)[1] lu(N)[2] norm(x) norm(N) block_diag(M,N) kron(M,N) toeplitz(v) hankel(v) circulant(v) vandermonde(v) companion(x)
        solve_triangular(M,v,lower=True) cho_solve((M,True),v) solve_toeplitz(x,w) solve_banded((1,1),M,v) polar(N)[0] schur(M)[0]
        solve_sylvester(M,M,N) solve_continuous_lyapunov(M,N) solve_discrete_are(M*0.3,M,M,M) orth(N) null_space(N[:2]) cosm(N) funm(M,np.exp)
        khatri_rao(M,N) bandwidth(M)""",
    "fft": "fft(s) ifft(s) rfft(s) irfft(s) fftn(M) fft2(M) hfft(s) fftshift(s) dct(s) dst(s) idct(s) dctn(M) fht(x,0.1,0.5) next_fast_len(7)*a",
    "ndimage": """gaussian_filter(M,1.0) gaussian_filter1d(s,1.0) convolve(s,v) correlate1d(s,v) uniform_filter(s,3) sobel(M) laplace(M) median_filter(s,3)
        maximum_filter(s,3) zoom(s,2.0) shift(s,0.5) rotate(M,20.0) map_coordinates(M,[[0.5],[1.2]]) center_of_mass(P) sum_labels(s) mean(s) variance(s)
        fourier_gaussian(s,1.0) spline_filter(s) affine_transform(M,np.eye(3)) generic_filter(s,np.mean,3)""",
    "cluster": "vq.whiten(A) vq.vq(A,B)[1] vq.kmeans(A,2,rng=0)[1] hierarchy.linkage(B) hierarchy.cophenet(hierarchy.linkage(B)) vq.kmeans2(A,B[:2].copy())[0]",
}

LEARN = """preprocessing:StandardScaler().fit_transform(A) preprocessing:MinMaxScaler().fit_transform(A) preprocessing:MaxAbsScaler().fit_transform(A)
preprocessing:RobustScaler().fit_transform(A) preprocessing:Normalizer().fit_transform(A) preprocessing:Binarizer().fit_transform(A)
preprocessing:KernelCenterer().fit_transform(M) preprocessing:PolynomialFeatures(2).fit_transform(A) preprocessing:scale(A) preprocessing:minmax_scale(A)
preprocessing:maxabs_scale(A) preprocessing:normalize(A) preprocessing:PowerTransformer().fit_transform(P) preprocessing:QuantileTransformer(n_quantiles=4).fit_transform(A)
preprocessing:SplineTransformer(n_knots=3).fit_transform(A) preprocessing:KBinsDiscretizer(2,encode="ordinal").fit_transform(A)
preprocessing:FunctionTransformer(lambda h:h*h).fit_transform(A) preprocessing:add_dummy_feature(A)
decomposition:PCA(2,svd_solver="full").fit_transform(A)**2 decomposition:PCA(2,svd_solver="full").fit(A).explained_variance_ decomposition:PCA(2,svd_solver="covariance_eigh").fit_transform(A)**2
decomposition:PCA(2,svd_solver="full").fit(A).score_samples(A) decomposition:PCA(2,svd_solver="full",whiten=True).fit_transform(A)**2
decomposition:IncrementalPCA(2).fit_transform(A)**2 decomposition:TruncatedSVD(2).fit_transform(A)**2 decomposition:NMF(2,init="nndsvd",max_iter=20).fit_transform(P)
decomposition:FastICA(2,random_state=0).fit_transform(A)**2 decomposition:KernelPCA(2).fit_transform(A)**2 decomposition:FactorAnalysis(1).fit_transform(A)**2
linear_model:Ridge(solver="svd").fit(A,z).coef_ linear_model:Ridge(solver="svd").fit(A,z).predict(B) linear_model:Ridge(solver="cholesky").fit(A,z).coef_
linear_model:LinearRegression().fit(A,z).coef_ linear_model:LinearRegression().fit(A,z).predict(B) linear_model:RidgeCV().fit(A,z).coef_
linear_model:LogisticRegression(solver="lbfgs",tol=1e-12).fit(A,k).coef_ linear_model:Lasso(0.01).fit(A,z).coef_ linear_model:ElasticNet(0.01).fit(A,z).coef_ linear_model:BayesianRidge().fit(A,z).coef_
linear_model:HuberRegressor().fit(A,z).coef_ linear_model:SGDRegressor(random_state=0).fit(A,z).coef_ linear_model:PoissonRegressor().fit(A,z**2).coef_ linear_model:RidgeClassifier(solver="svd").fit(A,k).coef_
discriminant_analysis:LinearDiscriminantAnalysis().fit(A,k).predict_proba(B) discriminant_analysis:LinearDiscriminantAnalysis().fit(A,k).transform(B)**2
discriminant_analysis:QuadraticDiscriminantAnalysis().fit(A,k).predict_proba(B) naive_bayes:GaussianNB().fit(A,k).predict_proba(B) naive_bayes:GaussianNB().fit(A,k).predict_log_proba(B)
naive_bayes:MultinomialNB().fit(P,k).predict_proba(P) mixture:GaussianMixture(1,init_params="random",random_state=0).fit(A).score(B) mixture:GaussianMixture(2,random_state=0).fit(A).means_
neighbors:KNeighborsRegressor(2).fit(A,z).predict(B) neighbors:KernelDensity().fit(A).score_samples(B) svm:SVR().fit(A,z).predict(B) svm:LinearSVC().fit(A,k).coef_
tree:DecisionTreeRegressor(random_state=0).fit(A,z).predict(B) ensemble:RandomForestRegressor(3,random_state=0).fit(A,z).predict(B)
gaussian_process:GaussianProcessRegressor(optimizer=None,alpha=0.1).fit(A,z).predict(B) kernel_ridge:KernelRidge().fit(A,z).predict(B)
neural_network:MLPRegressor(4,random_state=0,max_iter=5).fit(A,z).predict(B) cross_decomposition:PLSRegression(1).fit(A,z).predict(B) covariance:EmpiricalCovariance().fit(A).covariance_
covariance:LedoitWolf().fit(A).covariance_ covariance:OAS().fit(A).covariance_ covariance:ledoit_wolf_shrinkage(A) cluster:KMeans(2,random_state=0,n_init=1).fit(A).cluster_centers_
calibration:CalibratedClassifierCV(naive_bayes.GaussianNB(),cv=2).fit(A,k).predict_proba(B) isotonic:IsotonicRegression().fit(z,c).predict(z) manifold:Isomap(n_neighbors=3,n_components=1).fit_transform(A)**2
impute:SimpleImputer().fit_transform(A) feature_selection:f_regression(A,z)[0] feature_selection:f_classif(A,k)[0] feature_selection:r_regression(A,z)
feature_selection:VarianceThreshold().fit(A).variances_ pipeline:make_pipeline(preprocessing.StandardScaler(),decomposition.PCA(2,svd_solver="full")).fit_transform(A)**2
pipeline:make_pipeline(preprocessing.StandardScaler(),linear_model.Ridge(solver="svd")).fit(A,z).predict(B) random_projection:GaussianRandomProjection(2,random_state=0).fit_transform(A)
kernel_approximation:RBFSampler(n_components=4,random_state=0).fit_transform(A) kernel_approximation:Nystroem(n_components=3,random_state=0).fit_transform(A)
metrics:mean_squared_error(z,c) metrics:root_mean_squared_error(z,c) metrics:mean_absolute_error(z,c) metrics:mean_absolute_percentage_error(z,c) metrics:mean_squared_log_error(z**2,c)
metrics:median_absolute_error(z,c) metrics:max_error(z,c) metrics:r2_score(z,c) metrics:explained_variance_score(z,c) metrics:mean_tweedie_deviance(z**2,c,power=1.5)
metrics:mean_poisson_deviance(z**2,c) metrics:mean_gamma_deviance(z**2,c) metrics:mean_pinball_loss(z,c,alpha=0.3) metrics:d2_tweedie_score(z**2,c,power=1) metrics:d2_absolute_error_score(z,c)
metrics:d2_pinball_score(z,c) metrics:log_loss(k,c) metrics:brier_score_loss(k,c) metrics:hinge_loss(k,z) metrics:roc_auc_score(k,c) metrics:average_precision_score(k,c) metrics:d2_brier_score(k,c)
metrics:accuracy_score(k,k)+0*c.sum() metrics:ndcg_score(P,A) metrics:silhouette_score(A,k) metrics:calinski_harabasz_score(A,k) metrics:davies_bouldin_score(A,k)
metrics.pairwise:euclidean_distances(A,B) metrics.pairwise:cosine_similarity(A,B) metrics.pairwise:cosine_distances(A,B) metrics.pairwise:linear_kernel(A,B) metrics.pairwise:polynomial_kernel(A,B)
metrics.pairwise:rbf_kernel(A,B) metrics.pairwise:sigmoid_kernel(A,B) metrics.pairwise:laplacian_kernel(A,B) metrics.pairwise:chi2_kernel(P,P+0.1) metrics.pairwise:additive_chi2_kernel(P,P+0.1)
metrics.pairwise:manhattan_distances(A,B) metrics.pairwise:paired_cosine_distances(A[:5],B) metrics.pairwise:paired_euclidean_distances(A[:5],B) metrics:pairwise_distances(A,B)"""

ROWS = [("scipy.special", call) for call in SPECIAL.split()]
ROWS += [(f"scipy.{module}", call) for module, calls in MODULES.items() for call in calls.split()]
LEARNED = [tuple(f"sklearn.{row}".split(":", 1)) for row in LEARN.split()]


def listed(result):
    """The parts of a result."""
    return [part for each in result for part in listed(each)] if isinstance(result, (list, tuple)) else [result]


def evaluate(module, call, values, places):
    """What a call gives, in the names of its module and of these values."""
    __import__(module)
    package = sys.modules[module.partition(".")[0]]
    if package.__name__ == "sklearn":
        for name in ("preprocessing", "decomposition", "linear_model", "naive_bayes"):
            __import__(f"sklearn.{name}")
    inside = {"np": np, **vars(package), **vars(sys.modules[module])}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        tree = ast.parse(call, mode="eval")
        method = tree.body
        return eval(compile(Renamed(inside).visit(ast.fix_missing_locations(tree)), call, "eval"), {**inside, **{f"_{k}": v for k, v in {**values, **places}.items()}}) if method else None  # noqa: S307


class Renamed(ast.NodeTransformer):
    """Names of values get an underscore: modules have functions of the same names, such as `scipy.stats.t`."""

    def __init__(self, inside):
        self.bound = set()

    def visit_Lambda(self, node):  # noqa: N802
        before, self.bound = self.bound, self.bound | {each.arg for each in node.args.args}
        self.generic_visit(node)
        self.bound = before
        return node

    def visit_Attribute(self, node):  # noqa: N802
        head = node.value
        if isinstance(head, ast.Name) and head.id == "t":  # the distribution
            return node
        return self.generic_visit(node)

    def visit_Name(self, node):  # noqa: N802
        if node.id in {*INPUTS, *CONSTANTS} - self.bound:
            node.id = f"_{node.id}"
        return node


def weights(size, part):
    """A weight for each element of a part of the result."""
    return np.cos(np.arange(1.0, size + 1) + part)


def number(module, call, values):
    """The weighed sum of a result, by NumPy alone."""
    total = 0.0
    for part, each in enumerate(listed(evaluate(module, call, values, {k: v.copy() for k, v in CONSTANTS.items()}))):
        each = np.asarray(each)
        total += float(np.real((each.ravel() * weights(each.size, part)).sum()))
    return total


def used(call):
    """The names of inputs in a call."""
    tree = Renamed({}).visit(ast.parse(call, mode="eval"))
    names = {node.id[1:] for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id.startswith("_")}
    return [name for name in INPUTS if name in names]


def slopes(module, call):
    """The gradient by central differences of fourth order."""
    found = {}
    for name in used(call):
        found[name] = np.zeros(INPUTS[name].shape)
        for index in np.ndindex(found[name].shape):
            for times, weight in ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0)):
                moved = {key: INPUTS[key].copy() for key in used(call)}
                moved[name][index] += times * 1e-4
                found[name][index] += weight * number(module, call, moved) / 12e-4
    return found


def outcome(module, call, block=None):
    """'right', 'refused', 'wrong' or 'constant', and why."""
    try:
        expected, differences = number(module, call, {k: INPUTS[k].copy() for k in used(call)}), slopes(module, call)
    except Exception as error:  # noqa: BLE001
        return "unusable", f"{type(error).__name__}: {error}".partition("\n")[0]
    try:
        with block or pullback.no_escapes(), pullback.strong_zeros():
            given = {k: pullback.tensor(INPUTS[k], requires_grad=True) for k in used(call)}
            others = {k: pullback.tensor(v) for k, v in CONSTANTS.items()}
            parts = listed(evaluate(module, call, given, others))
            total = 0.0
            for part, each in enumerate(parts):
                if isinstance(each, pullback.Tensor):
                    total = total + (each.reshape(-1) * pullback.tensor(weights(each.numel(), part))).sum().real
                else:
                    total = total + float((np.ravel(each) * weights(np.size(each), part)).sum().real)
            if not isinstance(total, pullback.Tensor):
                if any(np.abs(slope).max() > 1e-8 for slope in differences.values()):
                    return "wrong", f"lost: the result is of type {type(parts[0]).__name__}"
                return "constant", ""
            if not total.requires_grad:
                constant = all(np.abs(slope).max() < 1e-8 for slope in differences.values())
                return ("constant", "") if constant else ("wrong", "the result has no gradient")
            gradients = pullback.autograd.grad(total, list(given.values()), allow_unused=True)
    except Exception as error:  # noqa: BLE001
        return "refused", f"{type(error).__name__}: {error}".partition("\n")[0]
    if not np.isclose(float(total.detach()), expected, rtol=1e-7, atol=1e-9):
        return "wrong", f"the value is {float(total.detach())!r}, NumPy's {expected!r}"
    for name, gradient in zip(given, gradients, strict=True):
        gradient = np.zeros(INPUTS[name].shape) if gradient is None else gradient.numpy()
        scale = max(1.0, abs(expected), np.abs(differences[name]).max())
        if not np.allclose(gradient, differences[name], rtol=1e-5, atol=1e-6 * scale):
            return "wrong", f"by {name}: {np.ravel(gradient)[:3]}, differences {np.ravel(differences[name])[:3]}"
    return "right", ""


def main():
    """Print a line for each call, and the counts."""
    wanted = sys.argv[1:]
    for rows in (ROWS, LEARNED):
        counts = Counter()
        for module, call in rows:
            if wanted and not any(each in module for each in wanted):
                continue
            kind, why = outcome(module, call)
            if kind == "refused" and module.startswith("scipy"):
                again = outcome(module, call, pullback.numpy_programs("scipy"))
                if again[0] in ("right", "wrong"):
                    kind, why = f"{again[0]} (numpy_programs)", again[1]
            counts[kind] += 1
            print(f"{kind}\t{module}\t{call}\t{why[:230]}", flush=True)
        print("counts", dict(counts), sum(counts.values()), flush=True)


if __name__ == "__main__":
    main()
