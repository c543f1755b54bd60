/* Rules of derivatives, which are not written again here: `_tape/symbols.py` calls each of them once with symbols, and tells what
   it has done with these, in tuples that are read as they are: how many values are saved, the size of the cotangent from which Python
   may have machine code, and the rule of each operand, or None. A rule has constants, and steps: a function and the places of its
   arguments among the values, which are the cotangent, what is saved, the constants, and what each step gives, in this order. */

#include "core.h"

#define MOST_VALUES 16

/* The rules of a class of nodes, borrowed: they live as long as the process. None where Python applies them; NULL on an error. */
PyObject *rules_of(PyObject *node_class)
{
    PyObject *found = PyDict_GetItemWithError(core.rules, node_class); /* borrowed */
    if (found != NULL || PyErr_Occurred())
        return found;
    PyObject *told = PyObject_CallOneArg(core.traced, node_class);
    if (told != NULL)
        found = PyDict_SetDefault(core.rules, node_class, told); /* another thread may have been as quick */
    Py_XDECREF(told);
    return found;
}

/* What one rule gives. `values` begins with the cotangent and what is saved, both borrowed; owns the results of its steps. */
static PyObject *rule_apply(PyObject *rule, PyObject **values, Py_ssize_t known)
{
    PyObject *constants = PyTuple_GET_ITEM(rule, 0), *steps = PyTuple_GET_ITEM(rule, 1), *arguments[MOST_ARGUMENTS], *result = values[0];
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); i++)
        values[known++] = PyTuple_GET_ITEM(constants, i);
    Py_ssize_t first = known;
    int single = PyArray_NDIM((PyArrayObject *)values[0]) == 0; /* of which ufuncs make NumPy's scalars */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(steps) && result != NULL; i++) {
        PyObject *step = PyTuple_GET_ITEM(steps, i), *places = PyTuple_GET_ITEM(step, 1);
        Py_ssize_t count = PyTuple_GET_SIZE(places);
        for (Py_ssize_t k = 0; k < count; k++)
            arguments[k] = values[PyLong_AsSsize_t(PyTuple_GET_ITEM(places, k))];
        result = single ? NULL : looped(PyTuple_GET_ITEM(step, 0), arguments, (int)count);
        if (result == NULL && !PyErr_Occurred())
            result = PyObject_Vectorcall(PyTuple_GET_ITEM(step, 0), arguments, (size_t)count, NULL);
        values[known++] = result;
    }
    Py_XINCREF(result);
    for (Py_ssize_t i = first; i < known; i++)
        Py_XDECREF(values[i]);
    return result;
}

/* Applies the rules for the operands that have edges. The results are owned by the caller: NULL for none. */
Outcome rules_apply(PyObject *rules, PyObject *g, PyObject *edges, PyObject *saved, PyObject **results)
{
    PyObject *values[MOST_VALUES] = {g}, *each = PyTuple_GET_ITEM(rules, 2);
    Py_ssize_t count = PyLong_AsSsize_t(PyTuple_GET_ITEM(rules, 0));
    if (!PyArray_CheckExact(g) || PyArray_SIZE((PyArrayObject *)g) >= PyLong_AsSsize_t(PyTuple_GET_ITEM(rules, 1)))
        return HAND_OVER;
    if (PyTuple_GET_SIZE(edges) != PyTuple_GET_SIZE(each) || !PyTuple_CheckExact(saved) || PyTuple_GET_SIZE(saved) != count)
        return HAND_OVER;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *cell = PyTuple_GET_ITEM(saved, i);
        values[i + 1] = Py_None; /* which no rule of a tracked operand names */
        if (cell == Py_None)
            continue;
        if (!is_a(cell, core.Cell) || !PyArray_CheckExact(slot_get(cell, core.slots.cell_array)))
            return HAND_OVER;
        values[i + 1] = slot_get(cell, core.slots.cell_array);
    }
    for (Py_ssize_t i = 1; i <= count; i++)
        Py_INCREF(values[i]); /* a write by another thread gives a cell another array */
    Outcome outcome = DONE;
    for (Py_ssize_t i = 0; outcome == DONE && i < PyTuple_GET_SIZE(each); i++) {
        if (PyTuple_GET_ITEM(each, i) == Py_None || PyTuple_GET_ITEM(edges, i) == Py_None)
            continue;
        results[i] = rule_apply(PyTuple_GET_ITEM(each, i), values, count + 1);
        if (results[i] == NULL)
            outcome = FAILED;
    }
    for (Py_ssize_t i = 1; i <= count; i++)
        Py_DECREF(values[i]);
    return outcome;
}
