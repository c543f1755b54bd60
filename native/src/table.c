/* What Python tells the core once, by `setup`: see `_tape/native.py`, which makes the table. */

#include "core.h"

Core core;

/* The value of a name in the table, borrowed; NULL with an exception if it is missing. */
static PyObject *told_of(PyObject *told, const char *name)
{
    PyObject *value = PyDict_GetItemString(told, name);
    if (value == NULL)
        PyErr_Format(PyExc_KeyError, "pullback-native was not told of %s", name);
    return value;
}

/* Where a slot of a class lies. Owns nothing. */
static int slot_read(PyObject *told, const char *class_name, const char *name, Py_ssize_t *offset)
{
    PyObject *class = told_of(told, class_name);
    if (class == NULL)
        return -1;
    PyObject *member = PyObject_GetAttrString(class, name);
    if (member == NULL)
        return -1;
    int is_slot = Py_IS_TYPE(member, &PyMemberDescr_Type);
    if (is_slot)
        *offset = ((PyMemberDescrObject *)member)->d_member->offset;
    else
        PyErr_Format(PyExc_TypeError, "pullback-native: %s.%s is not a slot", class_name, name);
    Py_DECREF(member);
    return is_slot ? 0 : -1;
}

/* Reads the table into `core`, which owns what it names until the process ends. */
int table_read(PyObject *told)
{
#define KNOW(class_name, name, place) slot_read(told, #class_name, #name, &core.slots.place) < 0 ||
#define FIND(name) told_of(told, #name) == NULL ||
#define KEEP(name) core.name = Py_NewRef(told_of(told, #name));
    if (core.Tensor != NULL)
        PyErr_SetString(PyExc_RuntimeError, "pullback-native is set up once");
    if (core.Tensor != NULL || SLOTS(KNOW) TOLD(FIND) 0)
        return -1;
    TOLD(KEEP)
    return 0;
}

/* The value of a slot, borrowed; NULL if it was never set. */
PyObject *slot_get(PyObject *object, Py_ssize_t offset)
{
    return *(PyObject **)((char *)object + offset);
}

/* Sets a slot. Steals the value; lets the old one go last, since its end may run code of users. */
void slot_set(PyObject *object, Py_ssize_t offset, PyObject *value)
{
    PyObject **place = (PyObject **)((char *)object + offset), *old = *place;
    *place = value;
    Py_XDECREF(old);
}
