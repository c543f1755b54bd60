/* Indices of ints, slices, None and one ellipsis, which give views.

   Beside: `_plain` in `vocabulary/indexing.py`, and `_index_title` in `ops/shapes.py`. */

#include "operation.h"

#define MOST_ENTRIES 8

/* The digit of a slice; 0 for one with other bounds than ints, or a step of 0. */
int slice_digit(PyObject *entry)
{
    const PySliceObject *slice = (PySliceObject *)entry;
    PyObject *const bounds[] = {slice->start, slice->stop, slice->step};
    for (int i = 0; i < 3; i++)
        if (bounds[i] != Py_None && !PyLong_CheckExact(bounds[i]))
            return 0;
    if (slice->step != Py_None && !PyObject_IsTrue(slice->step))
        return 0;
    return slice->start == Py_None && slice->stop == Py_None && slice->step == Py_None ? WHOLE : PART;
}

/* Whether an int is within the bounds of an axis. */
static int is_within(PyObject *entry, npy_intp length)
{
    int overflow;
    long long place = PyLong_AsLongLongAndOverflow(entry, &overflow);
    return !overflow && -length <= place && place < length;
}

/* How many axes the entries after a place cover. */
static Py_ssize_t covered(PyObject *entries, Py_ssize_t from)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t i = from; i < PyTuple_GET_SIZE(entries); i++)
        count += PyTuple_GET_ITEM(entries, i) != Py_None;
    return count;
}

/* The key of a tuple of entries: whether it has an ellipsis is told by `dotted`. 0 for an index that is not plain. */
static long key_of(PyArrayObject *array, PyObject *entries, int *dotted)
{
    long key = 0;
    Py_ssize_t axis = 0, ndim = PyArray_NDIM(array);
    *dotted = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entries); i++) {
        PyObject *entry = PyTuple_GET_ITEM(entries, i);
        int digit = 0;
        if (entry == Py_None) {
            digit = ADDED;
        } else if (entry == Py_Ellipsis && !*dotted) {
            *dotted = 1;
            digit = DOTS;
            axis = Py_MAX(axis, ndim - covered(entries, i + 1));
        } else if (axis < ndim) {
            if (PyLong_CheckExact(entry))
                digit = is_within(entry, PyArray_DIM(array, axis)) ? NUMBER : 0;
            else if (PySlice_Check(entry))
                digit = slice_digit(entry);
            axis++;
        }
        if (digit == 0)
            return 0;
        key = key * DIGITS + digit;
    }
    return *dotted ? key : key * DIGITS + DOTS;
}

/* An index in the form in which it is recorded, with an ellipsis, and its key; NULL without an exception if it is not plain. */
PyObject *plain_index(PyArrayObject *array, PyObject *index, long *key)
{
    if (PyLong_CheckExact(index)) {
        if (PyArray_NDIM(array) == 0 || !is_within(index, PyArray_DIM(array, 0)))
            return NULL;
        *key = ROW;
        return PyTuple_Pack(2, index, Py_Ellipsis);
    }
    int dotted;
    PyObject *entries = PyTuple_CheckExact(index) ? Py_NewRef(index) : PyTuple_Pack(1, index);
    if (entries == NULL)
        return NULL;
    *key = PyTuple_GET_SIZE(entries) > MOST_ENTRIES ? 0 : key_of(array, entries, &dotted);
    if (*key == 0)
        Py_CLEAR(entries);
    else if (!dotted)
        Py_SETREF(entries, PySequence_Concat(entries, core.dots));
    return entries;
}

/* The class of nodes for an index. */
PyObject *index_kind(PyObject *params, long key)
{
    PyObject *number = PyLong_FromLong(key), *kind = number == NULL ? NULL : kind_known(number, core.getitem, params);
    Py_XDECREF(number);
    return kind;
}
