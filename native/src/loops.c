/* The inner loops of ufuncs, called on arrays that lie in order: without what a ufunc does before, a fifth of its time is left.

   Beside: `np.add(a, b)`, `np.add.reduce(a, None)`, and others. That a loop gives the same bits is looked at once, by `has_loops` in
   `_tape/native.py`, which calls `looped` and `added`. A loop raises no warnings: what it leaves of floating-point flags, the next
   ufunc clears. */

#include "core.h"

#define NO_IMPORT_UFUNC
#include <numpy/ufuncobject.h>

#define MOST_LOOPED 2048 /* elements: with more, NumPy lets other threads run */

/* The number of the loop of a ufunc for one dtype alone; -1 if there is none. */
static int loop_of(PyUFuncObject *ufunc, int type)
{
    for (int i = 0; i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + i * ufunc->nargs;
        int fits = 1;
        for (int k = 0; k < ufunc->nargs; k++)
            fits = fits && types[k] == type;
        if (fits)
            return i;
    }
    return -1;
}

/* Of several operands the one with the most elements, where all have one floating dtype, lie in order, and have the shape of its
   last axes, or no axes. Borrowed; NULL for others. `row` is how many elements fit all that have axes. */
static PyArrayObject *largest(PyObject *const *operands, int count, npy_intp *row)
{
    PyArrayObject *whole = NULL;
    *row = MOST_LOOPED;
    for (int i = 0; i < count; i++)
        if (!PyArray_CheckExact(operands[i]) || !PyArray_ISCARRAY_RO((PyArrayObject *)operands[i]))
            return NULL;
        else if (whole == NULL || PyArray_NDIM((PyArrayObject *)operands[i]) > PyArray_NDIM(whole))
            whole = (PyArrayObject *)operands[i];
    for (int i = 0; i < count; i++) {
        PyArrayObject *array = (PyArrayObject *)operands[i];
        int ndim = PyArray_NDIM(array), before = PyArray_NDIM(whole) - ndim;
        if (PyArray_DESCR(array) != PyArray_DESCR(whole) || !PyArray_CompareLists(PyArray_DIMS(array), PyArray_DIMS(whole) + before, ndim))
            return NULL;
        if (ndim > 0)
            *row = Py_MIN(*row, PyArray_SIZE(array));
    }
    int usual = PyArray_DESCR(whole) == core.single || PyArray_DESCR(whole) == core.twice;
    return usual && PyArray_SIZE(whole) > 0 && PyArray_SIZE(whole) <= MOST_LOOPED ? whole : NULL;
}

/* What the loop of a ufunc gives for a few arrays; NULL without an exception where the ufunc is to be called. */
static PyObject *called(PyObject *function, PyObject *const *operands, int count)
{
    npy_intp row;
    PyUFuncObject *ufunc = (PyUFuncObject *)function;
    PyArrayObject *whole = largest(operands, count, &row);
    int number = whole == NULL || ufunc->nargs != count + 1 ? -1 : loop_of(ufunc, PyArray_TYPE(whole));
    if (number < 0)
        return NULL;
    PyObject *result = array_new(PyArray_DESCR(whole), PyArray_NDIM(whole), PyArray_DIMS(whole));
    npy_intp size = PyArray_SIZE(whole), item = PyArray_ITEMSIZE(whole), steps[MOST_ARGUMENTS + 1];
    row = Py_MIN(row, size); /* of numbers without axes */
    for (npy_intp at = 0; result != NULL && at < size; at += row) {
        char *data[MOST_ARGUMENTS + 1];
        for (int i = 0; i <= count; i++) {
            PyArrayObject *array = (PyArrayObject *)(i < count ? operands[i] : result);
            steps[i] = PyArray_NDIM(array) > 0 ? item : 0;
            data[i] = PyArray_BYTES(array) + (PyArray_SIZE(array) == size ? at * item : 0);
        }
        ufunc->functions[number](data, &row, steps, ufunc->data == NULL ? NULL : ufunc->data[number]);
    }
    return result;
}

/* The same, for a ufunc whose loop was looked at. */
PyObject *looped(PyObject *function, PyObject *const *operands, int count)
{
    int known = PySet_Contains(core.loops, function);
    return known > 0 ? called(function, operands, count) : NULL;
}

/* `looped(ufunc, *arrays)`, of any ufunc: None where it is to be called itself. */
PyObject *native_looped(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    int fits = 1 < count && count <= 1 + MOST_ARGUMENTS && strcmp(Py_TYPE(args[0])->tp_name, "numpy.ufunc") == 0;
    PyObject *result = fits ? called(args[0], args + 1, (int)count - 1) : NULL;
    return result == NULL && !PyErr_Occurred() ? Py_NewRef(Py_None) : result;
}

/* The sum of all numbers of an array that lies in order. */
PyObject *added(PyObject *Py_UNUSED(module), PyObject *array)
{
    PyUFuncObject *add = (PyUFuncObject *)core.add;
    int number = loop_of(add, PyArray_TYPE((PyArrayObject *)array));
    PyObject *total = number < 0 ? NULL : array_of_number(core.zero, PyArray_DESCR((PyArrayObject *)array));
    if (total == NULL)
        return NULL;
    char *sum = PyArray_DATA((PyArrayObject *)total), *data[3] = {sum, PyArray_DATA((PyArrayObject *)array), sum};
    npy_intp count = PyArray_SIZE((PyArrayObject *)array), steps[3] = {0, PyArray_ITEMSIZE((PyArrayObject *)array), 0};
    add->functions[number](data, &count, steps, add->data == NULL ? NULL : add->data[number]);
    return total;
}
