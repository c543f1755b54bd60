/* Views with other axes, for calls with plain ints.

   Beside: `reshape`, `view`, `unsqueeze`, `transpose`, `t` and `reversed_axes` in `vocabulary/shapes.py`. */

#include "views.h"

/* Lengths of axes, or their order. */
typedef struct {
    int count;
    npy_intp at[MOST_AXES];
} Axes;

/* Reads ints: one each argument, or all in one tuple. */
static Outcome ints_read(Axes *axes, PyObject *const *args, Py_ssize_t count)
{
    PyObject *const *items = args;
    if (count == 1 && PyTuple_Check(args[0])) {
        count = PyTuple_GET_SIZE(args[0]);
        items = ((PyTupleObject *)args[0])->ob_item;
    }
    if (count > MOST_AXES)
        return HAND_OVER;
    for (Py_ssize_t i = 0; i < count; i++) {
        int overflow = 0;
        axes->at[i] = PyLong_CheckExact(items[i]) ? (npy_intp)PyLong_AsLongLongAndOverflow(items[i], &overflow) : -2;
        if (overflow || !PyLong_CheckExact(items[i]))
            return HAND_OVER;
    }
    axes->count = (int)count;
    return DONE;
}

/* Infers the length that is -1, for so many elements. */
static Outcome lengths_inferred(Axes *axes, npy_intp size)
{
    npy_intp known = 1;
    int open = -1;
    for (int i = 0; i < axes->count; i++) {
        npy_intp length = axes->at[i];
        if (length == -1 && open < 0)
            open = i;
        else if (length < 0 || (length > 0 && known > NPY_MAX_INTP / length))
            return HAND_OVER;
        else
            known *= length;
    }
    if (open < 0)
        return known == size ? DONE : HAND_OVER;
    if (known == 0 || size % known != 0)
        return HAND_OVER;
    axes->at[open] = size / known;
    return DONE;
}

/* A view by a primitive with one entry of metadata, and perhaps a label. Steals the array and the value, either may be NULL. */
static PyObject *made(Source *source, PyObject *moved, PyObject *primitive, PyObject *name, PyObject *value, PyObject *label,
                      PyObject *kind)
{
    PyObject *params = moved == NULL || value == NULL ? NULL : PyDict_New(), *result = NULL;
    if (params != NULL && PyDict_SetItem(params, name, value) == 0 &&
        (label == NULL || PyDict_SetItem(params, names.label, label) == 0) && lies_within(moved, source->array))
        result = view_made(source, moved, primitive, params, kind);
    Py_XDECREF(params);
    Py_XDECREF(value);
    Py_XDECREF(moved);
    return result;
}

static PyObject *array_reshaped(PyObject *array, Axes *axes)
{
    PyArray_Dims lengths = {axes->at, axes->count};
    return PyArray_Newshape((PyArrayObject *)array, &lengths, NPY_CORDER);
}

/* `x.reshape(...)` and `x.view(...)` of what lies in order. */
PyObject *reshaped(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    Axes axes;
    if (keywords != NULL || count < 2 || ints_read(&axes, args + 1, count - 1) != DONE || source_read(&source, args[0]) != DONE)
        return NULL;
    PyArrayObject *array = (PyArrayObject *)source.array;
    PyObject *result = NULL;
    if (PyArray_IS_C_CONTIGUOUS(array) && lengths_inferred(&axes, PyArray_SIZE(array)) == DONE)
        result = made(&source, array_reshaped(source.array, &axes), core.reshape, names.shape, tuple_of(axes.at, axes.count), NULL,
                      core.ViewNode);
    source_release(&source);
    return result;
}

/* `x.unsqueeze(dim)`. */
PyObject *unsqueezed(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    Axes axes;
    if (keywords != NULL || count != 2 || source_read(&source, args[0]) != DONE)
        return NULL;
    PyArrayObject *array = (PyArrayObject *)source.array;
    int ndim = PyArray_NDIM(array), axis = axis_of(args[1], ndim + 1);
    PyObject *result = NULL;
    if (axis >= 0 && ndim < MOST_AXES) {
        axes.count = ndim + 1;
        for (int i = 0; i <= ndim; i++)
            axes.at[i] = i == axis ? 1 : PyArray_DIM(array, i - (i > axis));
        result = made(&source, array_reshaped(source.array, &axes), core.expand_dims, names.axis, PyLong_FromLong(axis), NULL,
                      core.UnsqueezeNode);
    }
    source_release(&source);
    return result;
}

/* A view with the axes in another order. */
static PyObject *ordered(Source *source, Axes *axes, PyObject *label, PyObject *kind)
{
    PyArray_Dims order = {axes->at, axes->count};
    PyObject *moved = PyArray_Transpose((PyArrayObject *)source->array, &order);
    return made(source, moved, core.permute_dims, names.axes, tuple_of(axes->at, axes->count), label, kind);
}

/* `x.transpose(one, other)`. */
PyObject *transposed(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    if (keywords != NULL || count != 3 || source_read(&source, args[0]) != DONE)
        return NULL;
    int ndim = PyArray_NDIM((PyArrayObject *)source.array), one = axis_of(args[1], ndim), other = axis_of(args[2], ndim);
    Axes axes = {ndim, {0}};
    PyObject *result = NULL;
    if (ndim <= MOST_AXES && one >= 0 && other >= 0) {
        for (int i = 0; i < ndim; i++)
            axes.at[i] = i == one ? other : i == other ? one : i;
        result = ordered(&source, &axes, names.TransposeBackward0, core.TransposeNode);
    }
    source_release(&source);
    return result;
}

/* `x.T`, the axes in reverse order; or `x.t()` of a matrix. */
PyObject *reversed(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    if (keywords != NULL || count != 1 || source_read(&source, args[0]) != DONE)
        return NULL;
    int ndim = PyArray_NDIM((PyArrayObject *)source.array), named = operation->variant;
    Axes axes = {ndim, {0}};
    PyObject *result = NULL;
    if (named ? ndim == 2 : ndim <= MOST_AXES) {
        for (int i = 0; i < ndim; i++)
            axes.at[i] = ndim - 1 - i;
        result = ordered(&source, &axes, named ? names.TBackward0 : NULL, named ? core.TNode : core.PermuteNode);
    }
    source_release(&source);
    return result;
}
