/* Nodes, the outputs of nodes that have several, and tensors.

   Beside: `make` and `outputs` in `_tape/node.py`, and `Eager.wrap` in `_tensor/tensor.py`. */

#include "core.h"

/* 1 if an attribute is None or False, 0 if it is not, -1 on an error. */
int is_none_attribute(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(object, name);
    if (value == NULL)
        return -1;
    int none = value == Py_None || value == Py_False;
    Py_DECREF(value);
    return none;
}

/* The class of nodes for a primitive with some metadata, of which a key is enough: Python says which, once. */
PyObject *kind_known(PyObject *key, PyObject *primitive, PyObject *params)
{
    PyObject *kind = PyDict_GetItemWithError(core.kinds, key); /* borrowed */
    Py_XINCREF(kind);
    if (kind == NULL && !PyErr_Occurred()) {
        kind = PyObject_CallFunctionObjArgs(core.kind_of, primitive, params, NULL);
        if (kind != NULL && PyDict_SetItem(core.kinds, key, kind) < 0)
            Py_CLEAR(kind);
    }
    return kind;
}

/* The frame of the innermost call outside of pullback, as `user_frame` finds it. Steals the frame to start from. */
static PyFrameObject *user_frame_of(PyFrameObject *frame)
{
    PyObject *known = NULL;
    if (PyContextVar_Get(core.asking, NULL, &known) < 0) {
        Py_DECREF(frame);
        return NULL;
    }
    if (known != Py_None) {
        Py_DECREF(frame);
        return (PyFrameObject *)known;
    }
    Py_DECREF(known);
    while (frame != NULL) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        PyObject *internal = PyDict_GetItemWithError(core.internal, code->co_filename); /* borrowed */
        Py_DECREF(code);
        if (internal != Py_True) {
            if (internal != NULL)
                return frame;
            PyObject *found = PyErr_Occurred() ? NULL : PyObject_CallOneArg(core.user_frame, (PyObject *)frame);
            Py_DECREF(frame);
            return (PyFrameObject *)found; /* a file that is new: Python finds out whose it is */
        }
        PyFrameObject *back = PyFrame_GetBack(frame);
        if (back == NULL && !PyErr_Occurred())
            return frame;
        Py_SETREF(frame, back);
    }
    return NULL;
}

/* Sets the line of the user on a node: the code and the instruction of the innermost frame outside of pullback. Where no frame is to
   be had, -1 without an exception: Python, which is called then, has one of its own. */
static int site_set(PyObject *node)
{
    PyFrameObject *frame = PyEval_GetFrame(); /* borrowed */
    if (frame == NULL)
        return -1;
    Py_INCREF(frame);
    PyCodeObject *code = PyFrame_GetCode(frame);
    int outside = PySet_Contains(core.outside, code->co_filename);
    if (outside <= 0) {
        Py_DECREF(code);
        if (outside < 0)
            Py_CLEAR(frame);
        else
            frame = user_frame_of(frame);
        if (frame == NULL)
            return -1;
        code = PyFrame_GetCode(frame);
    }
    slot_set(node, core.slots.code, (PyObject *)code);
    PyObject *offset = PyLong_FromLong(PyFrame_GetLasti(frame));
    Py_DECREF(frame);
    if (offset == NULL)
        return -1;
    slot_set(node, core.slots.offset, offset);
    return 0;
}

/* Sets all of a node but its line and what it saves, which is nothing so far. Steals the edges and the shape, also where it fails. */
static int node_fill(PyObject *node, PyObject *edges, PyObject *params, PyObject *shape)
{
    PyObject *number = PyIter_Next(core.count);
    PyObject *nothing = PyTuple_New(0);
    slot_set(node, core.slots.edges, edges);
    slot_set(node, core.slots.shape, shape);
    slot_set(node, core.slots.params, Py_NewRef(params));
    slot_set(node, core.slots.hooks, Py_NewRef(Py_None));
    slot_set(node, core.slots.saved, nothing);
    slot_set(node, core.slots.seq, number);
    return edges == NULL || shape == NULL || number == NULL || nothing == NULL ? -1 : 0;
}

/* A node of a class for an array that was computed; for NULL, of several outputs. Steals the edges. */
PyObject *node_new(PyObject *kind, PyObject *edges, PyObject *params, PyObject *array)
{
    PyTypeObject *type = (PyTypeObject *)kind;
    PyObject *node = type->tp_alloc(type, 0);
    if (node == NULL) {
        Py_XDECREF(edges);
        return NULL;
    }
    PyObject *shape = array == NULL ? Py_NewRef(Py_None) : shape_of(array);
    if (node_fill(node, edges, params, shape) < 0 || site_set(node) < 0)
        Py_CLEAR(node);
    return node;
}

/* One output of a node with several, whose `edges` are that node alone; its line is the node's. Steals the shape. */
PyObject *output_new(PyObject *node, PyObject *edges, Py_ssize_t index, PyObject *shape)
{
    PyObject *number = PyLong_FromSsize_t(index);
    PyObject *output = number == NULL ? NULL : instance_of(core.Output);
    int failed = output == NULL || node_fill(output, Py_NewRef(edges), number, Py_XNewRef(shape)) < 0;
    release(number, shape, NULL);
    if (failed) {
        Py_XDECREF(output);
        return NULL;
    }
    slot_set(output, core.slots.code, Py_NewRef(slot_get(node, core.slots.code)));
    slot_set(output, core.slots.offset, Py_NewRef(slot_get(node, core.slots.offset)));
    return output;
}

/* A tensor around an array; NULL for no node. */
PyObject *tensor_new(PyObject *array, PyObject *node)
{
    PyObject *tensor = instance_of(core.Tensor);
    if (tensor == NULL)
        return NULL;
    slot_set(tensor, core.slots.tensor_array, Py_NewRef(array));
    slot_set(tensor, core.slots.tensor_node, Py_NewRef(node == NULL ? Py_None : node));
    slot_set(tensor, core.slots.tensor_cell, Py_NewRef(Py_None));
    return tensor;
}
