/* Indices of tensors of places, masks, and lists of ints, which copy.

   Beside: `getitem` in `vocabulary/indexing.py`, `index_in_order` in `_core/xp.py`, `take` and `index_select` in
   `vocabulary/scatter.py`. */

#include "views.h"

#define MOST_PICKS 8

/* Whether an entry of an index selects by numbers: a tensor of places or a mask, or a list of ints. */
static int is_selecting(PyObject *entry)
{
    if (PyList_CheckExact(entry)) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(entry); i++)
            if (!PyLong_CheckExact(PyList_GET_ITEM(entry, i)))
                return 0;
        return PyList_GET_SIZE(entry) > 0;
    }
    PyObject *array = plain_array(entry);
    int type = array == NULL ? NPY_NOTYPE : PyArray_TYPE((PyArrayObject *)array);
    return type == NPY_BOOL || (PyTypeNum_ISSIGNED(type) && PyTypeNum_ISINTEGER(type) && PyArray_NDIM((PyArrayObject *)array) > 0);
}

/* The index proper, with the arrays of a call in their places, as a tuple; NULL without an exception where it does not fit. */
static PyObject *place_of(const Call *call, PyObject *spec, int *sole)
{
    PyArrayObject *array = (PyArrayObject *)call->operands[0].array;
    PyObject *place = PyTuple_New(PyTuple_GET_SIZE(spec));
    int axis = 0, next = 1;
    for (Py_ssize_t i = 0; place != NULL && i < PyTuple_GET_SIZE(spec); i++) {
        PyObject *entry = PyTuple_GET_ITEM(spec, i);
        int width = 1;
        if (entry == core.marker) {
            PyArrayObject *given = (PyArrayObject *)(entry = call->operands[next++].array);
            int masks = PyArray_TYPE(given) == NPY_BOOL;
            width = masks ? PyArray_NDIM(given) : 1;
            *sole = axis;
            for (int k = 0; masks && k < width; k++)
                if (axis + k >= PyArray_NDIM(array) || PyArray_DIM(given, k) != PyArray_DIM(array, axis + k))
                    Py_CLEAR(place);
        }
        if (place != NULL)
            PyTuple_SET_ITEM(place, i, Py_NewRef(entry));
        axis += width;
    }
    if (axis > PyArray_NDIM(array))
        Py_CLEAR(place);
    return place;
}

/* What stands at an index, in order in memory. */
static PyObject *taken(const Call *call)
{
    PyArrayObject *array = (PyArrayObject *)call->operands[0].array;
    int axis = 0;
    PyObject *place = place_of(call, call->values[0], &axis), *result = NULL;
    if (place == NULL)
        return NULL;
    PyObject *places = call->operands[1].array;
    if (call->count == 2 && PyArray_SIZE(array) > 0 && PyArray_TYPE((PyArrayObject *)places) == NPY_INTP)
        result = PyArray_TakeFrom(array, places, axis, NULL, NPY_RAISE);
    else
        result = PyObject_GetItem((PyObject *)array, place);
    Py_DECREF(place);
    if (result == NULL && PyErr_ExceptionMatches(PyExc_IndexError)) /* Python says so in torch's words */
        PyErr_Clear();
    if (result != NULL && !(PyArray_CheckExact(result) && PyArray_IS_C_CONTIGUOUS((PyArrayObject *)result)))
        Py_CLEAR(result);
    return result;
}

/* `x[index]` for an index of tensors, lists and `:`; NULL without an exception for any other. */
PyObject *picked(PyObject *tensor, PyObject *index)
{
    Py_ssize_t count = PyTuple_CheckExact(index) ? PyTuple_GET_SIZE(index) : 1;
    PyObject *const *entries = PyTuple_CheckExact(index) ? ((PyTupleObject *)index)->ob_item : &index;
    PyObject *operands[1 + MOST_PICKS] = {tensor}, *spec = count <= MOST_PICKS ? PyTuple_New(count) : NULL, *result = NULL;
    int known = 1;
    Py_ssize_t read = 0;
    for (; spec != NULL && read < count; read++) {
        PyObject *entry = entries[read];
        if (is_selecting(entry)) {
            operands[known] = PyList_CheckExact(entry) ? PyArray_FROM_O(entry) : Py_NewRef(entry);
            if (operands[known] == NULL)
                break;
            known++;
            entry = core.marker;
        } else if (!(PySlice_Check(entry) && slice_digit(entry) == WHOLE))
            break;
        PyTuple_SET_ITEM(spec, read, Py_NewRef(entry));
    }
    if (read == count && known > 1) {
        Call call = {(Operation *)core.index, known, core.spec_name, &spec, taken, NULL, core.index, 0, NULL};
        result = record(&call, operands);
    }
    for (int i = 1; i < known; i++)
        Py_DECREF(operands[i]);
    Py_XDECREF(spec);
    return result;
}

/* Whether a tensor has places of an axis in order: ints from the least on, below a length. */
static int are_places(PyObject *given, npy_intp least, npy_intp length)
{
    PyArrayObject *array = (PyArrayObject *)plain_array(given);
    int fits = array != NULL && PyArray_TYPE(array) == NPY_INTP && PyArray_ISCARRAY_RO(array);
    for (npy_intp i = 0; fits && i < PyArray_SIZE(array); i++) {
        npy_intp place = ((npy_intp *)PyArray_DATA(array))[i];
        fits = least <= place && place < length;
    }
    return fits;
}

/* `x.take(index)`, of the elements in order; or `x.index_select(dim, index)`. */
PyObject *selected(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    int along = operation->variant;
    PyArrayObject *array = keywords == NULL && count == 2 + along ? (PyArrayObject *)plain_array(args[0]) : NULL;
    int axis = array == NULL || PyArray_NDIM(array) > MOST_PICKS ? -1 : along ? axis_of(args[1], PyArray_NDIM(array)) : 0;
    PyObject *index = axis < 0 ? NULL : args[1 + along];
    npy_intp length = axis < 0 ? 0 : along ? PyArray_DIM(array, axis) : PyArray_SIZE(array);
    if (axis < 0 || !are_places(index, along ? 0 : -length, length) || (along && PyArray_NDIM((PyArrayObject *)plain_array(index)) != 1))
        return NULL;
    PyObject *spec = PyTuple_New(axis + 1), *tensor = along ? Py_NewRef(args[0]) : flattened(args[0]), *result = NULL;
    for (int i = 0; spec != NULL && i <= axis; i++)
        PyTuple_SET_ITEM(spec, i, Py_NewRef(i == axis ? core.marker : core.whole));
    if (spec != NULL && tensor != NULL) {
        PyObject *metadata[] = {spec, along ? names.IndexSelectBackward0 : names.TakeBackward0}, *operands[] = {tensor, index};
        Call call = {(Operation *)core.index, 2, core.pick_names, metadata, taken, NULL, metadata[1], 0, NULL};
        result = record(&call, operands);
    }
    release(tensor, spec, NULL);
    return result;
}
