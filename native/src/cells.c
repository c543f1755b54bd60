/* Cells, which keep values for the backward pass, and storages, which know who lies in a block of memory.

   Beside: `_tape/memory.py`. */

#include "core.h"

/* `cell_with`: a cell that holds an array, which is part of no cycle: the collector need not look at it. */
PyObject *cell_new(PyObject *array)
{
    PyObject *cell = instance_of(core.Cell);
    if (cell == NULL)
        return NULL;
    PyObject_GC_UnTrack(cell);
    slot_set(cell, core.slots.cell_array, Py_NewRef(array));
    return cell;
}

/* Takes the turn of those who change lists of storages: 1 if it is taken, 0 if another thread has it, -1 on an error. */
static int turn_take(void)
{
    PyObject *mine = PyObject_CallOneArg(core.turn_acquire, Py_False);
    int taken = mine == NULL ? -1 : mine == Py_True;
    Py_XDECREF(mine);
    return taken;
}

/* Gives it back; an exception that is raised stays. */
static int turn_give(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *done = PyObject_CallNoArgs(core.turn_release);
    Py_XDECREF(done);
    if (type != NULL)
        PyErr_Restore(type, value, traceback);
    return done == NULL ? -1 : 0;
}

/* Calls a method of a storage, where another thread has the turn, or is done by Python as quickly. */
static int by_python(PyObject *storage, PyObject *name, PyObject *argument)
{
    PyObject *given[] = {storage, argument}, *done = PyObject_VectorcallMethod(name, given, argument == NULL ? 1 : 2, NULL);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* `storage._forget()`, where one of its lists has grown to the limit. */
static int forget_if_many(PyObject *storage, PyObject *entries)
{
    Py_ssize_t limit = PyLong_AsSsize_t(slot_get(storage, core.slots.storage_limit));
    return limit < 0 ? -1 : PyList_GET_SIZE(entries) < limit ? 0 : by_python(storage, names._forget, NULL);
}

/* `storage.hold(cell)`. */
static int storage_hold(PyObject *storage, PyObject *cell)
{
    int mine = turn_take();
    if (mine <= 0)
        return mine < 0 ? -1 : by_python(storage, names.hold, cell);
    PyObject *cells = slot_get(storage, core.slots.storage_cells), *entry = PyWeakref_NewRef(cell, NULL);
    int failed = entry == NULL || PyList_Append(cells, entry) < 0 || forget_if_many(storage, cells) < 0; /* the turn may be taken twice */
    Py_XDECREF(entry);
    return turn_give() < 0 || failed ? -1 : 0;
}

/* `tensor._cell or cell_of(tensor)`. To make a cell may run the collector, and with it code of users, which may give the tensor
   another array or a cell: what is asked of it is asked again afterwards. */
PyObject *cell_of_tensor(PyObject *tensor)
{
    PyObject *cell = slot_get(tensor, core.slots.tensor_cell);
    if (cell != NULL && cell != Py_None)
        return Py_NewRef(cell);
    if (is_set(((Base *)tensor)->inference))
        return PyObject_CallOneArg(core.cell_of, tensor); /* which raises the error */
    PyObject *made = cell_new(Py_None);
    if (made == NULL)
        return NULL;
    cell = slot_get(tensor, core.slots.tensor_cell);
    if (cell == NULL || cell == Py_None) {
        slot_set(made, core.slots.cell_array, Py_NewRef(slot_get(tensor, core.slots.tensor_array)));
        slot_set(tensor, core.slots.tensor_cell, Py_NewRef(made));
    } else
        Py_SETREF(made, Py_NewRef(cell));
    PyObject *storage = Py_XNewRef(((Base *)tensor)->storage);
    if (is_set(storage) && storage_hold(storage, made) < 0)
        Py_CLEAR(made);
    Py_XDECREF(storage);
    return made;
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
    if (failed)
        return -1;
    Py_XSETREF(((Base *)tensor)->storage, Py_NewRef(storage));
    return forget_if_many(storage, members);
}
