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

static PyObject *tuple_of(const Axes *axes)
{
    PyObject *tuple = PyTuple_New(axes->count);
    for (int i = 0; tuple != NULL && i < axes->count; i++) {
        PyObject *number = PyLong_FromSsize_t(axes->at[i]);
        if (number == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, number);
    }
    return tuple;
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
        result = made(&source, array_reshaped(source.array, &axes), core.reshape, names.shape, tuple_of(&axes), NULL, core.ViewNode);
    source_release(&source);
    return result;
}

/* `x.unsqueeze(dim)`. */
PyObject *unsqueezed(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    Axes place, axes;
    if (keywords != NULL || count != 2 || !PyLong_CheckExact(args[1]) || ints_read(&place, args + 1, 1) != DONE ||
        source_read(&source, args[0]) != DONE)
        return NULL;
    PyArrayObject *array = (PyArrayObject *)source.array;
    int ndim = PyArray_NDIM(array);
    npy_intp axis = place.at[0] < 0 ? place.at[0] + ndim + 1 : place.at[0];
    PyObject *result = NULL;
    if (0 <= axis && axis <= ndim && ndim < MOST_AXES) {
        axes.count = ndim + 1;
        for (int i = 0; i <= ndim; i++)
            axes.at[i] = i == axis ? 1 : PyArray_DIM(array, i - (i > axis));
        result = made(&source, array_reshaped(source.array, &axes), core.expand_dims, names.axis, PyLong_FromSsize_t(axis), NULL,
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
    return made(source, moved, core.permute_dims, names.axes, tuple_of(axes), label, kind);
}

/* All axes in order. */
static void in_order(Axes *axes, int ndim)
{
    axes->count = ndim;
    for (int i = 0; i < ndim; i++)
        axes->at[i] = i;
}

/* `x.transpose(one, other)`. */
PyObject *transposed(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    Axes given, axes;
    if (keywords != NULL || count != 3 || ints_read(&given, args + 1, 2) != DONE || source_read(&source, args[0]) != DONE)
        return NULL;
    int ndim = PyArray_NDIM((PyArrayObject *)source.array);
    npy_intp one = given.at[0] + (given.at[0] < 0 ? ndim : 0), other = given.at[1] + (given.at[1] < 0 ? ndim : 0);
    PyObject *result = NULL;
    if (ndim <= MOST_AXES && 0 <= one && one < ndim && 0 <= other && other < ndim) {
        in_order(&axes, ndim);
        axes.at[one] = other;
        axes.at[other] = one;
        result = ordered(&source, &axes, names.TransposeLabel, core.TransposeNode);
    }
    source_release(&source);
    return result;
}

/* `x.t()` of a matrix. */
PyObject *turned(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    if (keywords != NULL || count != 1 || source_read(&source, args[0]) != DONE)
        return NULL;
    Axes axes = {2, {1, 0}};
    int is_matrix = PyArray_NDIM((PyArrayObject *)source.array) == 2;
    PyObject *result = is_matrix ? ordered(&source, &axes, names.TLabel, core.TNode) : NULL;
    source_release(&source);
    return result;
}

/* `x.T`: the axes in reverse order. */
PyObject *reversed(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    if (keywords != NULL || count != 1 || source_read(&source, args[0]) != DONE)
        return NULL;
    Axes axes;
    int ndim = PyArray_NDIM((PyArrayObject *)source.array);
    PyObject *result = NULL;
    if (ndim <= MOST_AXES) {
        axes.count = ndim;
        for (int i = 0; i < ndim; i++)
            axes.at[i] = ndim - 1 - i;
        result = ordered(&source, &axes, NULL, core.PermuteNode);
    }
    source_release(&source);
    return result;
}
