/* Sums and means of all elements, or along one axis.

   Beside: `sum` and `mean` in `vocabulary/reductions.py` and in `_core/xp.py`. */

#include "views.h"

/* A reduction. `metadata` is `axis`, `keepdims` and `given`, all borrowed but for the first. */
typedef struct {
    PyObject *dim; /* NULL for all axes */
    PyObject *metadata[3];
} Reduction;

/* Divides a new array by how many elements each sum has. */
static void divide(PyArrayObject *total, npy_intp count)
{
    npy_intp size = PyArray_SIZE(total);
    void *data = PyArray_DATA(total);
    for (npy_intp i = 0; i < size; i++)
        if (PyArray_TYPE(total) == NPY_FLOAT)
            ((float *)data)[i] /= (float)count;
        else
            ((double *)data)[i] /= (double)count;
}

/* The sum along an axis of a small matrix, by a product with ones. */
static PyObject *product_with_ones(PyArrayObject *array, int axis, int kept)
{
    PyObject *ones = PyObject_CallFunction(core.ones, "nO", PyArray_DIM(array, axis), PyArray_DESCR(array)), *total = NULL;
    if (ones != NULL && kept) {
        npy_intp shape[2] = {axis ? -1 : 1, axis ? 1 : -1};
        PyArray_Dims lengths = {shape, 2};
        Py_SETREF(ones, PyArray_Newshape((PyArrayObject *)ones, &lengths, NPY_CORDER));
    }
    if (ones != NULL)
        total = axis ? PyArray_MatrixProduct2((PyObject *)array, ones, NULL) : PyArray_MatrixProduct2(ones, (PyObject *)array, NULL);
    Py_XDECREF(ones);
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
    if (size > PyLong_AsSsize_t(core.small_size) || (along >= 0 && ndim > 2)) /* Python knows more ways */
        return computed(call);
    PyObject *total;
    if (ndim == 2 && along >= 0 && PyArray_DIM(array, along) <= PyLong_AsSsize_t(core.block_size))
        total = product_with_ones(array, along, facts->metadata[1] == Py_True);
    else {
        PyObject *given[] = {(PyObject *)array, facts->metadata[0], (PyObject *)PyArray_DESCR(array), Py_None, facts->metadata[1]};
        total = quiet_array(core.add_reduce, given, 5, NULL);
    }
    if (total != NULL && call->operation->variant)
        divide((PyArrayObject *)total, along < 0 ? size : PyArray_DIM(array, along));
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
        PyObject *name = PyTuple_GET_ITEM(keywords, i);
        if (count < 2 && PyUnicode_Compare(name, names.dim) == 0)
            dim = args[count + i];
        else if (count < 3 && PyUnicode_Compare(name, names.keepdim) == 0)
            kept = args[count + i];
        else
            return HAND_OVER;
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

/* `linear(x, weight, bias)`, of tensors whose shapes fit. */
PyObject *projected(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    PyArrayObject *arrays[3];
    if (keywords != NULL || count != 3)
        return NULL;
    for (int i = 0; i < 3; i++) {
        arrays[i] = Py_IS_TYPE(args[i], core.Tensor) ? (PyArrayObject *)slot_get(args[i], core.slots.tensor_array) : NULL;
        if (arrays[i] == NULL || !PyArray_CheckExact(arrays[i]) || PyArray_NDIM(arrays[i]) == 0)
            return NULL;
    }
    int last = PyArray_NDIM(arrays[0]) - 1;
    int fit = PyArray_NDIM(arrays[1]) == 2 && PyArray_NDIM(arrays[2]) == 1 && PyArray_DIM(arrays[0], last) == PyArray_DIM(arrays[1], 1) &&
              PyArray_DIM(arrays[2], 0) == PyArray_DIM(arrays[1], 0);
    return fit ? recorded(operation, args, count, NULL) : NULL;
}
