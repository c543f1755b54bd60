/* Writes to tensors: through an index, and by in-place operators.

   Beside: `setitem` in `vocabulary/indexing.py`, `in_place` in `_tape/shortcuts.py`, `rebase` in `_tape/views.py`. */

#include <float.h>
#include <math.h>

#include "operation.h"

/* The tensor that a weak reference leads to, borrowed, which is only looked at; NULL if it is gone. */
static PyObject *led_to(PyObject *entry)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *found = NULL;
    PyWeakref_GetRef(entry, &found);
    Py_XDECREF(found);
    return found;
#else
    PyObject *found = PyWeakref_GetObject(entry);
    return found == Py_None ? NULL : found;
#endif
}

/* The views of a tensor that are alive, as a list. */
static PyObject *views_of(PyObject *tensor)
{
    PyObject *views = PyList_New(0), *storage = ((Base *)tensor)->storage;
    PyObject *members = is_set(storage) ? slot_get(storage, core.slots.storage_members) : NULL;
    for (Py_ssize_t i = 0; views != NULL && members != NULL && i < PyList_GET_SIZE(members); i++) {
        PyObject *found = led_to(PyList_GET_ITEM(members, i));
        if (found != NULL && ((Base *)found)->base == tensor && PyList_Append(views, found) < 0)
            Py_CLEAR(views);
    }
    return views;
}

/* Whether views of a tensor have no history; also where memory runs out. */
static int has_late(PyObject *tensor)
{
    PyObject *views = views_of(tensor);
    int late = views == NULL;
    for (Py_ssize_t i = 0; !late && i < PyList_GET_SIZE(views); i++)
        late = slot_get(PyList_GET_ITEM(views, i), core.slots.tensor_node) == Py_None;
    Py_XDECREF(views);
    return late;
}

/* Whether a write leaves no record and turns no history, as far as the target alone tells. Recorded, only if neither it nor its base
   has a history; else if no view follows: one that has none follows a base that has, and any a base that was detached in place. */
static int is_free(PyObject *tensor, int records)
{
    const Base *fields = (Base *)tensor;
    PyObject *base = is_set(fields->base) ? fields->base : tensor;
    if (!is_a(base, core.Tensor) || (is_set(((Base *)base)->cut) && is_set(fields->storage)))
        return 0;
    if (slot_get(base, core.slots.tensor_node) != Py_None)
        return !records && !has_late(base);
    return !records || (slot_get(tensor, core.slots.tensor_node) == Py_None && !is_set(fields->made_untracked));
}

/* Whether a tensor has no history that others know, so that it can be given another. */
static int is_inner(PyObject *tensor)
{
    const Base *fields = (Base *)tensor;
    PyObject *node = slot_get(tensor, core.slots.tensor_node);
    if (node == NULL || is_set(fields->made_untracked) || is_set(fields->cut))
        return 0;
    int inner = node == Py_None || (slot_get(node, core.slots.hooks) == Py_None &&
                                    PyTuple_GET_SIZE(slot_get(node, core.slots.edges)) > 0); /* that of a leaf has no edges */
    return inner ? is_none_attribute(tensor, names._leaf) : 0;
}

/* The same of what is no view. */
static int is_base(PyObject *tensor)
{
    return is_set(((Base *)tensor)->base) ? 0 : is_inner(tensor);
}

/* The steps of a path, in order. */
static PyObject *steps_of(PyObject *path)
{
    Py_ssize_t count = 0;
    for (PyObject *link = path; PyTuple_GET_SIZE(link) > 0; link = PyTuple_GET_ITEM(link, 0))
        count++;
    PyObject *steps = PyTuple_New(count);
    for (; steps != NULL && count > 0; path = PyTuple_GET_ITEM(path, 0))
        PyTuple_SET_ITEM(steps, --count, Py_NewRef(PyTuple_GET_ITEM(path, 1)));
    return steps;
}

/* The history of a view after a write to its base that has left a node; NULL without an exception where Python must look at it. */
static PyObject *node_of_view(PyObject *view, PyObject *base, PyObject *node)
{
    PyObject *array = plain_array(view), *path = ((Base *)view)->path;
    if (array == NULL || path == NULL || is_inner(view) <= 0 ||
        PyArray_DESCR((PyArrayObject *)array) != PyArray_DESCR((PyArrayObject *)slot_get(base, core.slots.tensor_array)))
        return NULL;
    PyObject *steps = steps_of(path), *params = steps == NULL ? NULL : params_with(names.path, steps), *made = NULL;
    PyObject *kind = params == NULL ? NULL : kind_known(core.replay, core.replay, params);
    PyObject *edges = kind == NULL ? NULL : PyTuple_Pack(1, node);
    if (edges != NULL)
        made = node_new(kind, edges, params, array); /* which steals the edges */
    release(kind, params, steps);
    return made;
}

/* The views of a tensor, and then the node of each, after a write that has left a node: a list; NULL as above. */
static PyObject *followers(PyObject *tensor, PyObject *node)
{
    PyObject *all = views_of(tensor);
    for (Py_ssize_t i = 0, count = all == NULL ? 0 : PyList_GET_SIZE(all); all != NULL && i < count; i++) {
        PyObject *made = node_of_view(PyList_GET_ITEM(all, i), tensor, node);
        if (made == NULL || PyList_Append(all, made) < 0)
            Py_CLEAR(all);
        Py_XDECREF(made);
    }
    return all;
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

/* The array to write to memory of a dtype: of a number, or of a tensor that has it. */
static PyObject *value_read(PyObject *given, PyArray_Descr *dtype)
{
    if (!is_a(given, core.Tensor))
        return number_read(given, dtype);
    PyObject *array = is_set(((Base *)given)->cut) ? NULL : plain_array(given);
    return array != NULL && PyArray_DESCR((PyArrayObject *)array) == dtype ? Py_NewRef(array) : NULL;
}

/* Whether a value has the shape of a region, or no axes. */
static int fills(PyObject *value, PyObject *region)
{
    return PyArray_NDIM((PyArrayObject *)value) == 0 || PyArray_SAMESHAPE((PyArrayObject *)value, (PyArrayObject *)region);
}

/* The node of a value, borrowed; None for a number. */
static PyObject *edge_of(PyObject *given)
{
    return is_a(given, core.Tensor) ? slot_get(given, core.slots.tensor_node) : Py_None;
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

/* The node of a write to a part of a tensor. */
static PyObject *node_of_write(PyObject *tensor, PyObject *array, PyObject *index, PyObject *edge)
{
    PyObject *path = Py_BuildValue("((O{OO}))", core.getitem, names.index, index), *edges = NULL, *node = NULL;
    PyObject *params = path == NULL ? NULL : params_with(names.path, path);
    PyObject *kind = params == NULL ? NULL : kind_known(core.overwrite, core.overwrite, params);
    if (kind != NULL)
        edges = PyTuple_Pack(2, slot_get(tensor, core.slots.tensor_node), edge);
    if (edges != NULL)
        node = node_new(kind, edges, params, array); /* which steals the edges */
    release(kind, params, path);
    return node;
}

/* Writes an array to a region of a tensor, after all has been checked: the array itself, or, with a ufunc, what that gives. With a
   place, to what that selects of the region. The tensor gets the node, unless that is NULL, and its views follow; where Python must
   look at one of these, nothing is written, and -1 comes without an exception. */
static int written(PyObject *tensor, PyObject *region, PyObject *place, PyObject *value, PyObject *function, PyObject *node)
{
    PyObject *storage = Py_XNewRef(((Base *)tensor)->storage), *given[] = {region, value, region}, *done = NULL;
    PyObject *views = node == NULL || !is_set(storage) ? NULL : followers(tensor, node);
    int failed = (views == NULL && node != NULL && is_set(storage)) || protect(tensor, storage) < 0;
    if (!failed && place != NULL) { /* what `protect` calls may have changed: places are looked at here */
        PyArrayObject *pick = simple_pick((PyArrayObject *)region, place, (PyArrayObject *)value);
        failed = (pick == NULL ? PyObject_SetItem(region, place, value) : put((PyArrayObject *)region, pick, value)) < 0;
    } else if (!failed && function == NULL)
        failed = PyArray_CopyInto((PyArrayObject *)region, (PyArrayObject *)value) < 0;
    else if (!failed)
        failed = (done = quietly(function, given, 3, NULL)) == NULL;
    if (!failed && node != NULL)
        slot_set(tensor, core.slots.tensor_node, Py_NewRef(node));
    for (Py_ssize_t i = 0, count = views == NULL ? 0 : PyList_GET_SIZE(views) / 2; !failed && i < count; i++)
        slot_set(PyList_GET_ITEM(views, i), core.slots.tensor_node, Py_NewRef(PyList_GET_ITEM(views, count + i)));
    failed = failed || count_write(tensor, storage) < 0;
    release(done, storage, views);
    return failed ? -1 : 0;
}

/* Reads a tensor that is about to be written: its array. NULL without an exception where Python must look at it. */
static PyObject *target_read(PyObject *tensor, int *records)
{
    PyObject *array = plain_array(tensor);
    Usage usage = array == NULL ? OTHER : usage_now();
    *records = usage == RECORDS;
    return usage > OTHER && is_writable((PyArrayObject *)array) && !is_set(((Base *)tensor)->inference) ? Py_NewRef(array) : NULL;
}

/* `x[index] = value` for an index of tensors, lists and `:`. */
static PyObject *assigned_picks(PyObject *const *args, PyObject *array, int records)
{
    int free = is_free(args[0], records) && (!records || edge_of(args[2]) == Py_None), alone = free || !records ? 0 : is_base(args[0]), axis;
    PyObject *operands[2 + MOST_PICKS] = {args[0]}, *spec = NULL, *found = NULL, *node = NULL, *result = NULL;
    int count = free || alone > 0 ? picks_read(args[1], &spec, operands + 2) : 0;
    PyObject *place = spec == NULL || count == 0 ? NULL : place_of((PyArrayObject *)array, spec, operands + 2, &axis);
    PyObject *value = place == NULL ? NULL : value_read(args[2], PyArray_DESCR((PyArrayObject *)array));
    int fits = value != NULL && simple_pick((PyArrayObject *)array, place, (PyArrayObject *)value) != NULL;
    if (value != NULL && !fits && (found = PyObject_GetItem(array, place)) != NULL)
        fits = fills(value, found);
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_IndexError)) /* Python says so in torch's words */
        PyErr_Clear();
    if (fits && !free) {
        operands[1] = is_a(args[2], core.Tensor) ? args[2] : value;
        Call call = {(Operation *)core.index_put, 2 + count, core.spec_name, &spec, NULL, NULL, core.index_put, 0, NULL};
        fits = (node = record_write(&call, operands)) != NULL;
    }
    if (fits && written(args[0], array, place, value, NULL, node) == 0)
        result = Py_NewRef(Py_None);
    release(value, found, place);
    picks_release(spec, operands + 2, count);
    Py_XDECREF(node);
    return result;
}

/* `x[index] = value`. */
PyObject *assigned(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    int records;
    long key;
    PyObject *array = keywords == NULL && count == 3 ? target_read(args[0], &records) : NULL, *result = NULL, *node = NULL;
    PyObject *index = array == NULL ? NULL : plain_index((PyArrayObject *)array, args[1], &key);
    if (array != NULL && index == NULL && !PyErr_Occurred())
        result = assigned_picks(args, array, records);
    PyObject *region = index == NULL ? NULL : PyObject_GetItem(array, index);
    PyObject *value = region == NULL ? NULL : value_read(args[2], PyArray_DESCR((PyArrayObject *)region));
    if (value != NULL && fills(value, region)) {
        PyObject *edge = Py_NewRef(edge_of(args[2]));
        int free = is_free(args[0], records) && (!records || edge == Py_None), alone = free || !records ? 0 : is_base(args[0]);
        if (alone > 0)
            node = node_of_write(args[0], array, index, edge);
        if ((free || node != NULL) && written(args[0], region, NULL, value, NULL, node) == 0)
            result = Py_NewRef(Py_None);
        Py_DECREF(edge);
    }
    release(node, value, region);
    release(index, array, NULL);
    return result;
}

/* What an in-place operator gives where that is recorded: the target gets the array, the history and the cell of the result. */
static int exchanged(Operation *operation, PyObject *const *args, PyArrayObject *array)
{
    int usual = PyArray_BASE(array) == NULL && PyArray_IS_C_CONTIGUOUS(array); /* Python keeps other orders of axes */
    int alone = usual && !is_set(((Base *)args[0])->storage) ? is_base(args[0]) : 0;
    PyObject *result = alone > 0 ? recorded(operation, args, 2, NULL) : NULL;
    if (result == NULL)
        return alone < 0 || PyErr_Occurred() ? -1 : 0;
    PyObject *tensor = args[0], *found = slot_get(result, core.slots.tensor_array);
    int fits = PyArray_BASE((PyArrayObject *)found) == NULL && PyArray_IS_C_CONTIGUOUS((PyArrayObject *)found) && PyArray_SAMESHAPE((PyArrayObject *)found, array) &&
               PyArray_CompareLists(PyArray_STRIDES((PyArrayObject *)found), PyArray_STRIDES(array), PyArray_NDIM(array)) &&
               !is_set(((Base *)result)->storage) && is_base(result) > 0;
    if (fits) {
        slot_set(tensor, core.slots.tensor_array, Py_NewRef(found));
        slot_set(tensor, core.slots.tensor_cell, Py_NewRef(slot_get(result, core.slots.tensor_cell)));
        slot_set(tensor, core.slots.tensor_node, Py_NewRef(slot_get(result, core.slots.tensor_node)));
        fits = count_write(tensor, NULL) < 0 ? -1 : 1;
    }
    Py_DECREF(result);
    return fits;
}

/* `x += y`, and other operators that write to their first operand. */
PyObject *replaced(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    int records, done = 0;
    PyObject *array = keywords == NULL && count == 2 ? target_read(args[0], &records) : NULL;
    if (array == NULL)
        return NULL;
    PyObject *edge = edge_of(args[1]);
    if (is_free(args[0], records) && (!records || edge == Py_None) && !is_set(((Base *)args[0])->base)) {
        int small = PyArray_ISCARRAY((PyArrayObject *)array) && PyArray_SIZE((PyArrayObject *)array) < operation->large;
        PyObject *value = small ? value_read(args[1], PyArray_DESCR((PyArrayObject *)array)) : NULL;
        if (value != NULL && fills(value, array))
            done = written(args[0], array, NULL, value, operation->forward, NULL) < 0 ? -1 : 1;
        Py_XDECREF(value);
    } else if (records)
        done = exchanged(operation, args, (PyArrayObject *)array);
    Py_DECREF(array);
    return done > 0 ? Py_NewRef(args[0]) : NULL;
}
