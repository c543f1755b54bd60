/* Cells, which keep values for the backward pass, and storages, which know who lies in a block of memory.

   Beside: `_tape/memory.py`. */

#include "core.h"

/* `cell_with`: a cell that holds an array. */
PyObject *cell_new(PyObject *array)
{
    PyObject *cell = core.Cell->tp_alloc(core.Cell, 0);
    if (cell != NULL)
        slot_set(cell, core.slots.cell_array, Py_NewRef(array));
    return cell;
}

/* Calls `storage._forget()` where a list has grown to the limit. */
static int forget_if_many(PyObject *storage, PyObject *entries)
{
    Py_ssize_t limit = PyLong_AsSsize_t(slot_get(storage, core.slots.storage_limit));
    if (limit < 0 || PyList_GET_SIZE(entries) < limit)
        return limit < 0 && PyErr_Occurred() ? -1 : 0;
    PyObject *done = PyObject_CallMethodNoArgs(storage, names.forget);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* `storage.hold(cell)`: where another thread has the turn, Python waits for it. */
static int storage_hold(PyObject *storage, PyObject *cell)
{
    PyObject *entry = PyWeakref_NewRef(cell, NULL);
    if (entry == NULL)
        return -1;
    PyObject *mine = PyObject_CallOneArg(core.turn_acquire, Py_False);
    if (mine != Py_True) {
        Py_DECREF(entry);
        if (mine == NULL)
            return -1;
        Py_DECREF(mine);
        PyObject *done = PyObject_CallMethodOneArg(storage, names.hold, cell);
        Py_XDECREF(done);
        return done == NULL ? -1 : 0;
    }
    Py_DECREF(mine);
    PyObject *cells = slot_get(storage, core.slots.storage_cells);
    int failed = PyList_Append(cells, entry) < 0 || forget_if_many(storage, cells) < 0;
    Py_DECREF(entry);
    PyObject *released = PyObject_CallNoArgs(core.turn_release);
    Py_XDECREF(released);
    return failed || released == NULL ? -1 : 0;
}

/* `tensor._cell or cell_of(tensor)`. */
PyObject *cell_of_tensor(PyObject *tensor)
{
    PyObject *cell = slot_get(tensor, core.slots.tensor_cell);
    if (cell != NULL && cell != Py_None)
        return Py_NewRef(cell);
    int usual = is_none_attribute(tensor, names.inference);
    if (usual < 0)
        return NULL;
    if (!usual)
        return PyObject_CallOneArg(core.cell_of, tensor); /* which raises the error */
    PyObject *storage = PyObject_GetAttr(tensor, names.storage);
    if (storage == NULL)
        return NULL;
    cell = cell_new(slot_get(tensor, core.slots.tensor_array));
    if (cell != NULL) {
        slot_set(tensor, core.slots.tensor_cell, Py_NewRef(cell));
        if (storage != Py_None && storage_hold(storage, cell) < 0)
            Py_CLEAR(cell);
    }
    Py_DECREF(storage);
    return cell;
}

/* `storage.join(tensor)`, for a new tensor, which has no cell: the tensor learns of it last. */
int storage_join(PyObject *storage, PyObject *tensor)
{
    PyObject *members = slot_get(storage, core.slots.storage_members);
    PyObject *entry = PyWeakref_NewRef(tensor, NULL);
    if (entry == NULL)
        return -1;
    int failed = PyList_Append(members, entry) < 0;
    Py_DECREF(entry);
    if (failed || PyObject_GenericSetAttr(tensor, names.storage, storage) < 0)
        return -1;
    return forget_if_many(storage, members);
}
