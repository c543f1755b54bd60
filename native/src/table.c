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

typedef struct {
    const char *class_name, *name;
    Py_ssize_t *offset;
} Slot;

static int slots_read(PyObject *told)
{
    Slots *at = &core.slots;
    const Slot slots[] = {
        {"Tensor", "_array", &at->tensor_array}, {"Tensor", "_node", &at->tensor_node}, {"Tensor", "_cell", &at->tensor_cell},
        {"Cell", "array", &at->cell_array},      {"Storage", "members", &at->storage_members},
        {"Storage", "cells", &at->storage_cells}, {"Storage", "_limit", &at->storage_limit},
        {"Storage", "version", &at->storage_version},
        {"Node", "edges", &at->edges},           {"Node", "saved", &at->saved},         {"Node", "params", &at->params},
        {"Node", "shape", &at->shape},           {"Node", "seq", &at->seq},             {"Node", "code", &at->code},
        {"Node", "offset", &at->offset},         {"Node", "hooks", &at->hooks},
    };
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
        if (slot_read(told, slots[i].class_name, slots[i].name, slots[i].offset) < 0)
            return -1;
    return 0;
}

typedef struct {
    const char *name;
    PyObject **place;
} Entry;

/* Reads the table into `core`, which owns what it names until the process ends. */
int table_read(PyObject *told)
{
    if (core.Tensor != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "pullback-native is set up once");
        return -1;
    }
    const Entry entries[] = {
        {"mode", &core.mode}, {"RECORD", &core.RECORD}, {"NO_GRAD", &core.NO_GRAD}, {"quiet", &core.quiet},
        {"outside", &core.outside}, {"user_frame", &core.user_frame}, {"internal", &core.internal},
        {"asking", &core.asking}, {"count", &core.count},
        {"turn_acquire", &core.turn_acquire}, {"turn_release", &core.turn_release}, {"cell_of", &core.cell_of},
        {"storage_of", &core.storage_of}, {"mark", &core.mark}, {"getitem", &core.getitem}, {"overwrite", &core.overwrite},
        {"unbind", &core.unbind}, {"split", &core.split}, {"reshape", &core.reshape},
        {"permute_dims", &core.permute_dims}, {"expand_dims", &core.expand_dims}, {"ViewNode", &core.ViewNode},
        {"PermuteNode", &core.PermuteNode}, {"TransposeNode", &core.TransposeNode}, {"TNode", &core.TNode},
        {"UnsqueezeNode", &core.UnsqueezeNode}, {"protect", &core.protect}, {"getattr", &core.getattr}, {"kind_of", &core.kind_of}, {"share", &core.share},
        {"keep_array", &core.keep_array}, {"aliased", &core.aliased},
        {"index", &core.index}, {"marker", &core.marker}, {"whole", &core.whole}, {"spec_name", &core.spec_name},
        {"axis_name", &core.axis_name}, {"join_names", &core.join_names}, {"reduction_names", &core.reduction_names},
        {"ones", &core.ones}, {"add_reduce", &core.add_reduce}, {"small_size", &core.small_size},
        {"block_size", &core.block_size}, {"kinds", &core.kinds}, {"rules", &core.rules}, {"traced", &core.traced}, {"raw", &core.raw},
        {"sum_to", &core.sum_to}, {"by_age", &core.by_age}, {"Parts", &core.Parts}, {"filled", &core.filled},
        {"Cell", (PyObject **)&core.Cell}, {"Storage", (PyObject **)&core.Storage}, {"Output", (PyObject **)&core.Output},
        {"Tensor", (PyObject **)&core.Tensor},
    };
    if (slots_read(told) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        if (told_of(told, entries[i].name) == NULL)
            return -1;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        *entries[i].place = Py_NewRef(told_of(told, entries[i].name));
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
