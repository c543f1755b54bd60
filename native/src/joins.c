/* Joins of tensors that lie in order in memory.

   Beside: `cat` and `stack` in `vocabulary/shapes.py`, `joined` in `_core/xp.py`. */

#include "operation.h"

/* A join along an axis, or along a new one. `metadata` is written when it is known: the axis and, for an old one, the lengths. */
typedef struct {
    PyObject *dim; /* NULL for 0 */
    int added, axis;
    npy_intp length;
    PyObject *metadata[2];
} Join;

/* Whether an array lies in order, in the layout that a new array of its shape would have. */
static int is_new_like(PyArrayObject *array)
{
    npy_intp step = PyArray_ITEMSIZE(array);
    for (int i = PyArray_NDIM(array) - 1; i >= 0; step *= PyArray_DIM(array, i--))
        if (PyArray_STRIDE(array, i) != step || PyArray_DIM(array, i) == 0)
            return 0;
    return PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array);
}

/* Whether the operands are tensors of one dtype that can be joined, and how long the axis will be. */
static int fits(const Call *call, Join *join)
{
    PyArrayObject *first = (PyArrayObject *)call->operands[0].array;
    int ndim = PyArray_NDIM(first), axes = ndim + join->added;
    if ((join->axis = axis_of(join->dim, axes)) < 0 || axes > MOST_AXES)
        return 0;
    for (int i = 0; i < call->count; i++) {
        PyArrayObject *array = (PyArrayObject *)call->operands[i].array;
        if (call->operands[i].tensor == NULL || PyArray_DESCR(array) != PyArray_DESCR(first) || PyArray_NDIM(array) != ndim ||
            !is_new_like(array))
            return 0;
        for (int k = 0; k < ndim; k++)
            if (PyArray_DIM(array, k) != PyArray_DIM(first, k) && (join->added || k != join->axis))
                return 0;
        join->length += join->added ? 1 : PyArray_DIM(array, join->axis);
    }
    return 1;
}

/* Copies the operands to their places in a new array. */
static void copy_all(const Call *call, const Join *join, PyArrayObject *result)
{
    npy_intp outer = 1, inner = PyArray_ITEMSIZE(result);
    for (int i = 0; i < PyArray_NDIM(result); i++)
        *(i < join->axis ? &outer : &inner) *= i == join->axis ? 1 : PyArray_DIM(result, i);
    char *to = PyArray_BYTES(result);
    for (npy_intp row = 0; row < outer; row++)
        for (int i = 0; i < call->count; i++) {
            PyArrayObject *array = (PyArrayObject *)call->operands[i].array;
            size_t bytes = (size_t)(inner * (join->added ? 1 : PyArray_DIM(array, join->axis)));
            memcpy(to, PyArray_BYTES(array) + (size_t)row * bytes, bytes);
            to += bytes;
        }
}

static PyObject *join_made(const Call *call)
{
    Join *join = call->facts;
    if (!fits(call, join))
        return NULL;
    PyArrayObject *first = (PyArrayObject *)call->operands[0].array;
    npy_intp shape[MOST_AXES], lengths[OPERANDS];
    for (int i = 0, k = 0; i < PyArray_NDIM(first) + join->added; i++) {
        shape[i] = i == join->axis ? join->length : PyArray_DIM(first, k);
        k += i != join->axis || !join->added;
    }
    for (int i = 0; !join->added && i < call->count; i++)
        lengths[i] = PyArray_DIM((PyArrayObject *)call->operands[i].array, join->axis);
    join->metadata[0] = PyLong_FromLong(join->axis);
    join->metadata[1] = join->added ? Py_NewRef(Py_None) : tuple_of(lengths, call->count);
    if (join->metadata[0] == NULL || join->metadata[1] == NULL)
        return NULL;
    PyObject *result = array_new(PyArray_DESCR(first), PyArray_NDIM(first) + join->added, shape);
    if (result != NULL)
        copy_all(call, join, (PyArrayObject *)result);
    return result;
}

/* `cat(tensors, dim)` or `stack(tensors, dim)` of a list or tuple. */
PyObject *joined(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Py_ssize_t given = count + (keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords));
    if (count < 1 || given > 2 || !(PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0])) ||
        (count < given && PyUnicode_Compare(PyTuple_GET_ITEM(keywords, 0), names.dim) != 0))
        return NULL;
    Join join = {given == 2 ? args[1] : NULL, operation->variant, 0, 0, {NULL, NULL}};
    PyObject *tensors = PySequence_Tuple(args[0]), *result = NULL;
    Py_ssize_t many = tensors == NULL ? 0 : PyTuple_GET_SIZE(tensors);
    if (many > 0 && many <= OPERANDS) {
        PyObject *known = join.added ? core.axis_name : core.join_names;
        Call call = {operation, (int)many, known, join.metadata, join_made, &join, NULL, 0, NULL};
        result = record(&call, ((PyTupleObject *)tensors)->ob_item);
    }
    release(tensors, join.metadata[0], join.metadata[1]);
    return result;
}
