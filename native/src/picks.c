/* Indices of tensors of places, masks, and lists of ints.

   Beside: `getitem` in `vocabulary/indexing.py`, `index_in_order` in `_core/xp.py`, `take`, `index_select`
   and `gather` in `vocabulary/scatter.py`. */

#include "operation.h"

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

/* The index as NumPy takes it in an array, a tuple with what selects in its places, arrays or tensors that have them; NULL without
   an exception where it does not fit. */
PyObject *place_of(PyArrayObject *array, PyObject *spec, PyObject *const *picks, int *sole)
{
    PyObject *place = PyTuple_New(PyTuple_GET_SIZE(spec));
    int axis = 0;
    for (Py_ssize_t i = 0; place != NULL && i < PyTuple_GET_SIZE(spec); i++) {
        PyObject *entry = PyTuple_GET_ITEM(spec, i);
        int width = 1;
        if (entry == core.marker) {
            PyObject *pick = *picks++;
            PyArrayObject *given = (PyArrayObject *)(entry = PyArray_CheckExact(pick) ? pick : plain_array(pick));
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
    PyObject *arrays[MOST_PICKS], *places = call->operands[1].array, *result = NULL;
    int axis = 0;
    for (int i = 1; i < call->count; i++)
        arrays[i - 1] = call->operands[i].array;
    PyObject *place = place_of(array, call->values[0], arrays, &axis);
    if (place == NULL)
        return NULL;
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

/* Reads an index of tensors, lists and `:`: how many select, 0 for any other. Both are owned by the caller: the entries as they are
   recorded, and those that select. */
int picks_read(PyObject *index, PyObject **spec, PyObject **picks)
{
    Py_ssize_t count = PyTuple_CheckExact(index) ? PyTuple_GET_SIZE(index) : 1;
    PyObject *const *entries = PyTuple_CheckExact(index) ? ((PyTupleObject *)index)->ob_item : &index;
    int known = 0;
    *spec = count <= MOST_PICKS ? PyTuple_New(count) : NULL;
    for (Py_ssize_t i = 0; *spec != NULL && i < count; i++) {
        PyObject *entry = entries[i];
        if (is_selecting(entry)) {
            picks[known] = PyList_CheckExact(entry) ? PyArray_FROM_O(entry) : Py_NewRef(entry);
            known += picks[known] != NULL;
            entry = PyErr_Occurred() ? NULL : core.marker;
        } else if (!(PySlice_Check(entry) && slice_digit(entry) == WHOLE))
            entry = NULL;
        if (entry == NULL)
            Py_CLEAR(*spec);
        else
            PyTuple_SET_ITEM(*spec, i, Py_NewRef(entry));
    }
    return known;
}

/* Lets go of what was read. */
void picks_release(PyObject *spec, PyObject **picks, int count)
{
    while (count > 0)
        Py_DECREF(picks[--count]);
    Py_XDECREF(spec);
}

/* `x[index]` for an index of tensors, lists and `:`; NULL without an exception for any other. */
PyObject *picked(PyObject *tensor, PyObject *index)
{
    PyObject *operands[1 + MOST_PICKS] = {tensor}, *spec, *result = NULL;
    int count = picks_read(index, &spec, operands + 1);
    if (spec != NULL && count > 0) {
        Call call = {(Operation *)core.index, 1 + count, core.spec_name, &spec, taken, NULL, core.index, 0, NULL};
        result = record(&call, operands);
    }
    picks_release(spec, operands + 1, count);
    return result;
}

/* Whether an array has places of an axis in order: ints from the least on, below a length. NULL has none. */
static int are_places(PyArrayObject *array, npy_intp least, npy_intp length)
{
    int fits = array != NULL && PyArray_TYPE(array) == NPY_INTP && PyArray_ISCARRAY_RO(array);
    for (npy_intp i = 0; fits && i < PyArray_SIZE(array); i++) {
        npy_intp place = ((npy_intp *)PyArray_DATA(array))[i];
        fits = least <= place && place < length;
    }
    return fits;
}

/* Whether no byte belongs to two arrays in order. */
static int are_apart(PyArrayObject *one, PyArrayObject *other)
{
    return PyArray_BYTES(one) + PyArray_NBYTES(one) <= PyArray_BYTES(other) || PyArray_BYTES(other) + PyArray_NBYTES(other) <= PyArray_BYTES(one);
}

/* What `put` can write a value to, borrowed: the places of rows, or the mask of a number; NULL for any other place. Neither they nor
   the value are in the memory that is written, as views with another dtype may be. */
PyArrayObject *simple_pick(PyArrayObject *array, PyObject *place, PyArrayObject *value)
{
    if (PyTuple_GET_SIZE(place) != 1 || PyArray_SIZE(array) == 0 || !PyArray_ISCARRAY(array) || !PyArray_ISCARRAY_RO(value))
        return NULL;
    PyArrayObject *pick = (PyArrayObject *)PyTuple_GET_ITEM(place, 0);
    int lead = PyArray_NDIM(pick), rest = PyArray_NDIM(array) - 1, number = PyArray_NDIM(value) == 0;
    int fits = PyArray_ISCARRAY_RO(pick) && are_apart(pick, array);
    if (PyArray_TYPE(pick) == NPY_BOOL)
        return fits && number && lead == rest + 1 ? pick : NULL;
    int rows = PyArray_NDIM(value) == lead + rest && PyArray_CompareLists(PyArray_DIMS(value), PyArray_DIMS(pick), lead) &&
               PyArray_CompareLists(PyArray_DIMS(value) + lead, PyArray_DIMS(array) + 1, rest);
    fits = fits && (number || rows) && are_places(pick, -PyArray_DIM(array, 0), PyArray_DIM(array, 0));
    return fits && are_apart(value, array) ? pick : NULL;
}

/* `array[pick] = value` for a simple pick, in less time than NumPy's. */
int put(PyArrayObject *array, PyArrayObject *pick, PyObject *value)
{
    if (PyArray_TYPE(pick) == NPY_BOOL) {
        PyObject *done = PyArray_PutMask(array, value, (PyObject *)pick);
        Py_XDECREF(done);
        return done == NULL ? -1 : 0;
    }
    const npy_intp *places = PyArray_DATA(pick), row = PyArray_NBYTES(array) / PyArray_DIM(array, 0);
    int number = PyArray_NDIM((PyArrayObject *)value) == 0;
    npy_intp step = number ? PyArray_ITEMSIZE(array) : row;
    const char *from = PyArray_BYTES((PyArrayObject *)value);
    for (npy_intp i = 0; i < PyArray_SIZE(pick); i++) {
        char *to = PyArray_BYTES(array) + (places[i] < 0 ? places[i] + PyArray_DIM(array, 0) : places[i]) * row;
        for (npy_intp at = 0; at < row; at += step)
            memcpy(to + at, from, (size_t)step);
        from += number ? 0 : row;
    }
    return 0;
}

/* `x.take(index)`, of the elements in order; or `x.index_select(dim, index)`. */
PyObject *selected(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    int along = operation->variant;
    PyArrayObject *array = keywords == NULL && count == 2 + along ? (PyArrayObject *)plain_array(args[0]) : NULL;
    int axis = array == NULL || PyArray_NDIM(array) > MOST_PICKS ? -1 : along ? axis_of(args[1], PyArray_NDIM(array)) : 0;
    PyObject *index = axis < 0 ? NULL : args[1 + along];
    npy_intp length = axis < 0 ? 0 : along ? PyArray_DIM(array, axis) : PyArray_SIZE(array);
    if (axis < 0 || !are_places((PyArrayObject *)plain_array(index), along ? 0 : -length, length) || (along && PyArray_NDIM((PyArrayObject *)plain_array(index)) != 1))
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

/* The elements along an axis, one for each place along the others, of what lies in order. */
static PyObject *gathered_elements(const Call *call)
{
    PyArrayObject *array = (PyArrayObject *)call->operands[0].array, *places = (PyArrayObject *)call->operands[1].array;
    int axis = *(int *)call->facts;
    size_t item = (size_t)PyArray_ITEMSIZE(array);
    npy_intp length = PyArray_DIM(array, axis), *place = PyArray_DATA(places), inner = 1;
    for (int i = axis + 1; i < PyArray_NDIM(array); i++)
        inner *= PyArray_DIM(array, i);
    PyObject *result = array_new(PyArray_DESCR(array), PyArray_NDIM(places), PyArray_DIMS(places));
    if (result == NULL)
        return NULL;
    char *from = PyArray_BYTES(array), *to = PyArray_BYTES((PyArrayObject *)result), *end = to + PyArray_NBYTES((PyArrayObject *)result);
    for (; to < end; from += (size_t)(length * inner) * item)
        for (npy_intp row = 0; row < PyArray_DIM(places, axis); row++)
            for (npy_intp i = 0; i < inner; i++, to += item)
                memcpy(to, from + (size_t)(*place++ * inner + i) * item, item);
    return result;
}

/* `x.gather(dim, index)`, for an index as long as the tensor along all other axes. */
PyObject *gathered(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    PyArrayObject *array = keywords == NULL && count == 3 ? (PyArrayObject *)plain_array(args[0]) : NULL;
    int ndim = array == NULL ? 0 : PyArray_NDIM(array), axis = ndim == 0 ? -1 : axis_of(args[1], ndim);
    PyArrayObject *places = axis < 0 ? NULL : (PyArrayObject *)plain_array(args[2]);
    if (axis < 0 || !PyArray_ISCARRAY_RO(array) || !are_places(places, 0, PyArray_DIM(array, axis)))
        return NULL;
    int fits = PyArray_NDIM(places) == ndim && PyArray_SIZE(places) > 0;
    for (int i = 0; fits && i < ndim; i++)
        fits = i == axis || PyArray_DIM(places, i) == PyArray_DIM(array, i);
    PyObject *number = fits ? PyLong_FromLong(axis) : NULL, *operands[] = {args[0], args[2]}, *result = NULL;
    if (number != NULL) {
        Call call = {operation, 2, core.axis_name, &number, gathered_elements, &axis, NULL, 0, NULL};
        result = record(&call, operands);
    }
    Py_XDECREF(number);
    return result;
}
