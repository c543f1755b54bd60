/* Sums and means of all elements, or along one axis, products, and linear layers.

   Beside: `sum` and `mean` in `vocabulary/reductions.py` and in `_core/xp.py`, `matmul` there and in `vocabulary/products.py`,
   `linear` in `vocabulary/layers.py`. */

#include "operation.h"

/* A reduction. `metadata` is `axis`, `keepdims` and `given`, all borrowed but for the first. */
typedef struct {
    PyObject *dim; /* NULL for all axes */
    PyObject *metadata[3];
} Reduction;

/* The sum along an axis of a small matrix, by a product with ones. */
static PyObject *product_with_ones(PyArrayObject *array, int axis, int kept)
{
    PyObject *factors = ones(PyArray_DIM(array, axis), (PyObject *)array), *total = NULL;
    if (factors != NULL && kept) {
        npy_intp shape[2] = {axis ? -1 : 1, axis ? 1 : -1};
        PyArray_Dims lengths = {shape, 2};
        Py_SETREF(factors, PyArray_Newshape((PyArrayObject *)factors, &lengths, NPY_CORDER));
    }
    if (factors != NULL)
        total = axis ? dot((PyObject *)array, factors) : dot(factors, (PyObject *)array);
    Py_XDECREF(factors);
    return total;
}

static PyObject *total(const Call *call)
{
    Reduction *facts = call->facts;
    PyArrayObject *array = (PyArrayObject *)call->operands[0].array;
    int ndim = PyArray_NDIM(array), along = facts->dim == NULL ? -1 : axis_of(facts->dim, ndim);
    npy_intp size = PyArray_SIZE(array), axes[MOST_AXES] = {along};
    if (size == 0 || ndim > MOST_AXES || (facts->dim != NULL && along < 0))
        return NULL;
    for (int i = 0; along < 0 && i < ndim; i++)
        axes[i] = i;
    if ((facts->metadata[0] = tuple_of(axes, along < 0 ? ndim : 1)) == NULL)
        return NULL;
    int many = along >= 0 && ndim == 2 && PyArray_DIM(array, along) > PyLong_AsSsize_t(core.block_size);
    if (size > PyLong_AsSsize_t(core.small_size) || many || (along >= 0 && ndim > 2)) /* Python knows more ways */
        return computed(call);
    PyObject *total;
    if (ndim == 2 && along >= 0)
        total = product_with_ones(array, along, facts->metadata[1] == Py_True);
    else if (along < 0 && facts->metadata[1] == Py_False && PyList_GET_SIZE(core.adds) > 0 && PyArray_ISCARRAY_RO(array))
        total = added(NULL, (PyObject *)array);
    else {
        PyObject *given[] = {(PyObject *)array, facts->metadata[0], (PyObject *)PyArray_DESCR(array), Py_None, facts->metadata[1]};
        total = quiet_array(core.add_reduce, given, 5, NULL);
    }
    if (total != NULL && call->operation->variant)
        divide(total, 0, PyArray_SIZE((PyArrayObject *)total), (double)(along < 0 ? size : PyArray_DIM(array, along)));
    return total;
}

/* Reads the arguments of a reduction: a tensor, `dim`, an int or None, and `keepdim`, a bool. */
static Outcome arguments_read(Reduction *facts, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    PyObject *dim = count > 1 ? args[1] : Py_None, *kept = count > 2 ? args[2] : Py_False;
    if (count < 1 || count + named > 3)
        return HAND_OVER;
    for (Py_ssize_t i = 0; i < named; i++) {
        int is_dim = PyUnicode_Compare(PyTuple_GET_ITEM(keywords, i), names.dim) == 0;
        if (count > (is_dim ? 1 : 2) || (!is_dim && PyUnicode_Compare(PyTuple_GET_ITEM(keywords, i), names.keepdim) != 0))
            return HAND_OVER;
        *(is_dim ? &dim : &kept) = args[count + i];
    }
    if (!PyBool_Check(kept))
        return HAND_OVER;
    facts->dim = dim == Py_None ? NULL : dim;
    facts->metadata[1] = kept;
    facts->metadata[2] = dim == Py_None ? Py_False : Py_True;
    return DONE;
}

/* `x.sum()`, `x.sum(dim)` and `x.sum(dim, keepdim)`, or `x.mean` of the same. */
PyObject *reduced(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Reduction facts = {NULL, {NULL, NULL, NULL}};
    if (arguments_read(&facts, args, count, keywords) != DONE)
        return NULL;
    PyObject *key = facts.dim == NULL ? operation->forward : (PyObject *)operation; /* of two titles */
    Call call = {operation, 1, core.reduction_names, facts.metadata, total, &facts, key, 0, NULL};
    PyObject *tensor = record(&call, args);
    Py_XDECREF(facts.metadata[0]);
    return tensor;
}

/* The product of matrices and vectors in one thread by NumPy, where they are small; NULL without an exception where not, as in Python. */
static PyObject *small_product(PyObject *a, PyObject *b)
{
    npy_intp one = PyArray_SIZE((PyArrayObject *)a), other = PyArray_SIZE((PyArrayObject *)b), most = PyLong_AsSsize_t(core.product_size);
    npy_intp columns = PyArray_DIM((PyArrayObject *)b, PyArray_NDIM((PyArrayObject *)b) - 1);
    int small = one > 1 && other > 1 && one < most && other < most && one * columns < PyLong_AsSsize_t(core.product_work);
    return small ? dot(a, b) : NULL;
}

static PyObject *multiplied(const Call *call)
{
    PyObject *result = small_product(call->operands[0].array, call->operands[1].array);
    return result == NULL && !PyErr_Occurred() ? computed(call) : result;
}

/* `x @ weight.T + bias` of a matrix. */
static PyObject *shifted(const Call *call)
{
    PyObject *turned = PyArray_Transpose((PyArrayObject *)call->operands[1].array, NULL);
    PyObject *made = turned == NULL ? NULL : small_product(call->operands[0].array, turned), *result = NULL;
    if (made != NULL) {
        PyObject *given[] = {made, call->operands[2].array, made};
        if ((result = looped(core.add, given, 2)) == NULL && !PyErr_Occurred())
            result = quietly(core.add, given, 3, NULL);
    }
    release(turned, made, NULL);
    return result == NULL && !PyErr_Occurred() ? computed(call) : result;
}

/* The array of a plain tensor with so many axes, or, for 0, some axes. Borrowed; NULL for any other. */
static PyArrayObject *array_with(PyObject *given, int ndim)
{
    PyArrayObject *array = (PyArrayObject *)plain_array(given);
    int own = array == NULL ? 0 : PyArray_NDIM(array);
    return own > 0 && (ndim == 0 || own == ndim) ? array : NULL;
}

/* `x @ y` of matrices and vectors. */
PyObject *product(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    PyArrayObject *a = keywords == NULL && count == 2 ? array_with(args[0], operation->variant) : NULL;
    PyArrayObject *b = a == NULL ? NULL : array_with(args[1], operation->variant);
    if (b == NULL || PyArray_NDIM(a) > 2 || PyArray_NDIM(b) > PyArray_NDIM(a) || PyArray_DIM(a, PyArray_NDIM(a) - 1) != PyArray_DIM(b, 0))
        return NULL;
    PyObject *label = PyArray_NDIM(b) == 2 ? NULL : PyArray_NDIM(a) == 2 ? names.MvBackward0 : names.DotBackward0;
    PyObject *key = label == NULL ? (PyObject *)operation : label;
    Call call = {operation, 2, label == NULL ? NULL : core.label_name, &label, multiplied, NULL, key, 0, NULL};
    return record(&call, args);
}

/* `linear(x, weight, bias)`, of tensors whose shapes fit. */
PyObject *projected(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    PyArrayObject *x = keywords == NULL && count == 3 ? array_with(args[0], 0) : NULL;
    PyArrayObject *weight = x == NULL ? NULL : array_with(args[1], 2), *bias = weight == NULL ? NULL : array_with(args[2], 1);
    int fits = bias != NULL && PyArray_DIM(x, PyArray_NDIM(x) - 1) == PyArray_DIM(weight, 1) &&
               PyArray_DIM(bias, 0) == PyArray_DIM(weight, 0);
    Call call = {operation, 3, NULL, NULL, fits && PyArray_NDIM(x) == 2 ? shifted : computed, NULL, NULL, 0, NULL};
    return fits ? record(&call, args) : NULL;
}
