/* Calls of NumPy, as `quiet.copy().run(function, ...)` makes them in Python: no floating-point warnings. */

#include "operation.h"

/* A copy of the quiet context that no call is in; NULL while one is. A context is entered by one call at a time: a call that
   finds it taken, as by another thread or by code that runs inside of a call, makes a copy of its own. */
static PyObject *idle;

/* The quiet context, which is entered. */
static PyObject *entered(void)
{
    PyObject *context = idle;
    idle = NULL;
    if (context == NULL && (context = PyContext_Copy(core.quiet)) == NULL)
        return NULL;
    if (PyContext_Enter(context) < 0)
        Py_CLEAR(context);
    return context;
}

/* A result of what ran in a context, which is left. Steals both; the result may be NULL. */
static PyObject *left(PyObject *context, PyObject *result)
{
    int fits = PyContext_Exit(context) == 0;
    if (!fits)
        Py_CLEAR(result);
    if (fits && idle == NULL)
        idle = context;
    else
        Py_DECREF(context);
    return result;
}

/* What a function gives. Owns the context while it is entered. */
PyObject *quietly(PyObject *function, PyObject *const *args, size_t count, PyObject *keywords)
{
    if (!PyContext_CheckExact(core.quiet)) { /* NumPy 1: its error state is no context variable */
        PyObject *given[2 + OPERANDS + KEYWORDS + 1] = {core.quiet, function};
        size_t all = count + (keywords == NULL ? 0 : (size_t)PyTuple_GET_SIZE(keywords));
        memcpy(given + 2, args, all * sizeof(PyObject *));
        return PyObject_VectorcallMethod(names.run, given, count + 2, keywords);
    }
    PyObject *context = entered();
    return context == NULL ? NULL : left(context, PyObject_Vectorcall(function, args, count, keywords));
}

/* A result as an array: NumPy gives a scalar in place of an array without axes. Steals it; NULL stays NULL. */
static PyObject *as_array(PyObject *result)
{
    if (result != NULL && !PyArray_Check(result) && PyArray_IsScalar(result, Generic))
        Py_SETREF(result, PyArray_FromScalar(result, NULL));
    return result;
}

/* The same as an array. */
PyObject *quiet_array(PyObject *function, PyObject *const *args, size_t count, PyObject *keywords)
{
    return as_array(quietly(function, args, count, keywords));
}

/* `a.dot(b)` as an array. Newer NumPy warns of what is not finite in it; NumPy 1, whose error state is no context, does not. */
PyObject *dot(PyObject *a, PyObject *b)
{
    if (!PyContext_CheckExact(core.quiet))
        return as_array(PyArray_MatrixProduct2(a, b, NULL));
    PyObject *context = entered();
    return context == NULL ? NULL : left(context, as_array(PyArray_MatrixProduct2(a, b, NULL)));
}

/* Ints as a tuple. */
PyObject *tuple_of(const npy_intp *ints, Py_ssize_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *number = PyLong_FromSsize_t(ints[i]);
        if (number == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, number);
    }
    if (tuple != NULL)
        PyObject_GC_UnTrack(tuple);
    return tuple;
}

/* The shape of an array, as a tuple. */
PyObject *shape_of(PyObject *array)
{
    return tuple_of(PyArray_DIMS((PyArrayObject *)array), PyArray_NDIM((PyArrayObject *)array));
}

/* An axis that is given as an int, or NULL for 0, counted from 0; -1 for what is no axis of so many. */
int axis_of(PyObject *dim, int ndim)
{
    int overflow = 0;
    long axis = dim == NULL ? 0 : PyLong_CheckExact(dim) ? PyLong_AsLongAndOverflow(dim, &overflow) : ndim;
    return overflow || axis < -ndim || axis >= ndim ? -1 : (int)(axis < 0 ? axis + ndim : axis);
}

/* An array in order whose elements are yet to be written. */
PyObject *array_new(PyArray_Descr *dtype, int ndim, const npy_intp *shape)
{
    Py_INCREF(dtype); /* which the next call steals */
    return PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, shape, NULL, NULL, 0, NULL);
}

/* `np.array(number, dtype)` for a Python float or int, and float32 or float64. An int too large for a float raises. */
PyObject *array_of_number(PyObject *number, PyArray_Descr *dtype)
{
    double value = PyFloat_CheckExact(number) ? PyFloat_AS_DOUBLE(number) : PyLong_AsDouble(number);
    if (value == -1.0 && PyErr_Occurred())
        return NULL;
    PyObject *array = array_new(dtype, 0, NULL);
    if (array == NULL)
        return NULL;
    void *data = PyArray_DATA((PyArrayObject *)array);
    if (dtype->type_num == NPY_FLOAT)
        *(float *)data = (float)value;
    else
        *(double *)data = value;
    return array;
}

/* What the current mode does. */
Usage usage_now(void)
{
    PyObject *mode = NULL;
    if (PyContextVar_Get(core.mode, NULL, &mode) < 0)
        return UNKNOWN;
    Py_XDECREF(mode); /* which is only compared from here on */
    return mode == core.RECORD ? RECORDS : mode == core.NO_GRAD ? NO_RECORDS : OTHER;
}

/* The array of a plain tensor, borrowed; NULL for any other. */
PyObject *plain_array(PyObject *given)
{
    PyObject *array = is_a(given, core.Tensor) ? slot_get(given, core.slots.tensor_array) : NULL;
    return array != NULL && PyArray_CheckExact(array) ? array : NULL;
}
