/* Views with other axes, for calls with plain ints.

   Beside: `reshape`, `view`, `unsqueeze`, `transpose`, `t` and `reversed_axes` in `vocabulary/shapes.py`. */

#include "operation.h"

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

/* A view by a primitive with one entry of metadata, and perhaps a label. Steals the array and the value, either may be NULL, and lets
   go of the source. */
static PyObject *made(Source *source, PyObject *moved, PyObject *primitive, PyObject *name, PyObject *value, PyObject *label,
                      PyObject *kind)
{
    PyObject *params = moved == NULL || value == NULL ? NULL : params_with(name, value), *result = NULL;
    if (params != NULL && (label == NULL || PyDict_SetItem(params, names.label, label) == 0) && lies_within(moved, source->array))
        result = view_made(source, moved, path_by(source, primitive, params), kind);
    release(params, value, moved);
    source_release(source);
    return result;
}

/* `x.reshape(...)` and `x.view(...)` of what lies in order; or `x.unsqueeze(dim)`. */
PyObject *reshaped(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    Axes axes;
    if (keywords != NULL || count < 2 || source_read(&source, args[0]) != DONE)
        return NULL;
    PyArrayObject *array = (PyArrayObject *)source.array;
    PyArray_Dims lengths = {axes.at, 0};
    PyObject *moved = NULL, *value = NULL;
    int ndim = PyArray_NDIM(array), axis = operation->variant && count == 2 && ndim < MOST_AXES ? axis_of(args[1], ndim + 1) : -1;
    if (axis >= 0) {
        for (int i = 0; i <= ndim; i++)
            axes.at[i] = i == axis ? 1 : PyArray_DIM(array, i - (i > axis));
        lengths.len = ndim + 1;
        value = PyLong_FromLong(axis);
    } else if (!operation->variant && ints_read(&axes, args + 1, count - 1) == DONE && PyArray_IS_C_CONTIGUOUS(array) &&
               lengths_inferred(&axes, PyArray_SIZE(array)) == DONE)
        value = tuple_of(axes.at, lengths.len = axes.count);
    if (value != NULL)
        moved = PyArray_Newshape(array, &lengths, NPY_CORDER);
    if (operation->variant)
        return made(&source, moved, core.expand_dims, names.axis, value, NULL, core.UnsqueezeNode);
    return made(&source, moved, core.reshape, names.shape, value, NULL, core.ViewNode);
}

/* What lies in order, seen as one axis: as Python's `view(ops.reshape, x, shape=(-1,))`. */
PyObject *flattened(PyObject *tensor)
{
    Source source;
    npy_intp size = -1;
    PyArray_Dims lengths = {&size, 1};
    if (source_read(&source, tensor) != DONE)
        return NULL;
    PyArrayObject *array = (PyArrayObject *)source.array;
    PyObject *moved = PyArray_IS_C_CONTIGUOUS(array) ? PyArray_Newshape(array, &lengths, NPY_CORDER) : NULL;
    return made(&source, moved, core.reshape, names.shape, Py_NewRef(core.flat_shape), NULL, core.ViewNode);
}

/* `x.T`, the axes in reverse order; `x.t()` of a matrix; or `x.transpose(one, other)`. */
PyObject *transposed(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    int way = operation->variant, pair = way == EXCHANGED;
    if (keywords != NULL || count != (pair ? 3 : 1) || source_read(&source, args[0]) != DONE)
        return NULL;
    int ndim = PyArray_NDIM((PyArrayObject *)source.array), one = 0, other = 0;
    if (pair)
        one = axis_of(args[1], ndim), other = axis_of(args[2], ndim);
    npy_intp at[MOST_AXES];
    PyArray_Dims order = {at, ndim};
    int fits = way == NAMED ? ndim == 2 : ndim <= MOST_AXES && one >= 0 && other >= 0;
    for (int i = 0; fits && i < ndim; i++)
        at[i] = !pair ? ndim - 1 - i : i == one ? other : i == other ? one : i;
    PyObject *moved = fits ? PyArray_Transpose((PyArrayObject *)source.array, &order) : NULL;
    return made(&source, moved, core.permute_dims, names.axes, moved == NULL ? NULL : tuple_of(at, ndim),
                pair ? names.TransposeBackward0 : way == NAMED ? names.TBackward0 : NULL,
                pair ? core.TransposeNode : way == NAMED ? core.TNode : core.PermuteNode);
}
