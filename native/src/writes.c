/* Writes through an index that leave no history.

   Beside: `setitem` in `vocabulary/indexing.py`. */

#include <float.h>
#include <math.h>

#include "views.h"

/* Whether a tensor may be written without a record, as far as it alone tells: in a mode that records only if neither it nor its base has a history. */
static int is_target(PyObject *tensor, int records)
{
    const Base *fields = (Base *)tensor;
    if (is_set(fields->inference))
        return 0;
    if (!records)
        return 1;
    PyObject *base = is_set(fields->base) ? fields->base : tensor;
    return slot_get(tensor, core.slots.tensor_node) == Py_None && !is_set(fields->made_untracked) &&
           Py_IS_TYPE(base, core.Tensor) && slot_get(base, core.slots.tensor_node) == Py_None;
}

/* Whether memory can be written, and no two elements lie at one place. */
static int is_writable(PyArrayObject *array)
{
    if (!PyArray_ISWRITEABLE(array) || (PyArray_DESCR(array) != core.single && PyArray_DESCR(array) != core.twice))
        return 0;
    for (int i = 0; i < PyArray_NDIM(array); i++)
        if (PyArray_STRIDE(array, i) == 0)
            return 0;
    return 1;
}

/* A number as an array of the dtype of its target; NULL without an exception for one that Python must look at. */
static PyObject *number_read(PyObject *given, PyArray_Descr *dtype)
{
    if (PyLong_CheckExact(given)) {
        int overflow;
        long long number = PyLong_AsLongLongAndOverflow(given, &overflow);
        if (overflow || number > (1LL << 53) || number < -(1LL << 53))
            return NULL;
    } else if (!PyFloat_CheckExact(given) || (isfinite(PyFloat_AS_DOUBLE(given)) && fabs(PyFloat_AS_DOUBLE(given)) > FLT_MAX / 2))
        return NULL; /* which float32 may not hold */
    return array_of_number(given, dtype);
}

/* The array to write to a region: of a number, or of a tensor that has its shape, or no axes, and no history that is asked for. */
static PyObject *value_read(PyObject *given, PyArrayObject *region, int records)
{
    if (!Py_IS_TYPE(given, core.Tensor))
        return number_read(given, PyArray_DESCR(region));
    PyObject *object = slot_get(given, core.slots.tensor_array);
    if (object == NULL || !PyArray_CheckExact(object) || (records && slot_get(given, core.slots.tensor_node) != Py_None))
        return NULL;
    PyArrayObject *array = (PyArrayObject *)object;
    int fits = PyArray_NDIM(array) == 0 || PyArray_SAMESHAPE(array, region);
    return fits && PyArray_DESCR(array) == PyArray_DESCR(region) ? Py_NewRef(object) : NULL;
}

/* `protect(tensor)`, which has nothing to do where no graph has kept a value that lies in this memory. */
static int protect(PyObject *tensor, PyObject *storage)
{
    PyObject *cell = slot_get(tensor, core.slots.tensor_cell);
    int idle = !is_set(storage) ? cell == NULL || cell == Py_None : PyList_GET_SIZE(slot_get(storage, core.slots.storage_cells)) == 0;
    if (idle)
        return 0;
    PyObject *done = PyObject_CallOneArg(core.protect, tensor);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* Counts a write. */
static int count_write(PyObject *tensor, PyObject *storage)
{
    PyObject **field = &((Base *)tensor)->writes;
    PyObject *old = is_set(storage) ? slot_get(storage, core.slots.storage_version) : *field;
    Py_ssize_t count = old == NULL ? 0 : PyLong_AsSsize_t(old);
    PyObject *new = count < 0 ? NULL : PyLong_FromSsize_t(count + 1);
    if (new == NULL)
        return -1;
    if (is_set(storage))
        slot_set(storage, core.slots.storage_version, new);
    else
        Py_XSETREF(*field, new);
    return 0;
}

/* Writes an array to a region of a tensor, after all has been checked. */
static int written(PyObject *tensor, PyArrayObject *region, PyArrayObject *value)
{
    PyObject *storage = Py_XNewRef(((Base *)tensor)->storage);
    int failed = protect(tensor, storage) < 0 || PyArray_CopyInto(region, value) < 0 || count_write(tensor, storage) < 0;
    Py_XDECREF(storage);
    return failed ? -1 : 0;
}

/* `x[index] = value`. */
PyObject *assigned(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    if (keywords != NULL || count != 3 || !Py_IS_TYPE(args[0], core.Tensor))
        return NULL;
    PyObject *mode = current_mode(), *array = slot_get(args[0], core.slots.tensor_array);
    if (mode == NULL)
        return NULL;
    int records = mode == core.RECORD, usual = records || mode == core.NO_GRAD;
    Py_DECREF(mode);
    if (!usual || array == NULL || !PyArray_CheckExact(array) || !is_writable((PyArrayObject *)array) ||
        !is_target(args[0], records))
        return NULL;
    long key;
    Py_INCREF(array);
    PyObject *index = plain_index((PyArrayObject *)array, args[1], &key), *result = NULL;
    PyObject *region = index == NULL ? NULL : PyObject_GetItem(array, index);
    PyObject *value = region == NULL ? NULL : value_read(args[2], (PyArrayObject *)region, records);
    if (value != NULL && written(args[0], (PyArrayObject *)region, (PyArrayObject *)value) == 0)
        result = Py_NewRef(Py_None);
    Py_XDECREF(value);
    Py_XDECREF(region);
    Py_XDECREF(index);
    Py_DECREF(array);
    return result;
}
