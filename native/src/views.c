/* Views: tensors that lie in the memory of others.

   Beside: `view` and `_seen` in `_tape/views.py`, `getitem` in `vocabulary/indexing.py`, `Tensor.__iter__`. */

#include "views.h"

/* Reads a plain tensor in a usual mode, of which a view can be made. */
Outcome source_read(Source *source, PyObject *tensor)
{
    memset(source, 0, sizeof(Source));
    if (!Py_IS_TYPE(tensor, core.Tensor))
        return HAND_OVER;
    PyObject *array = slot_get(tensor, core.slots.tensor_array), *edge = slot_get(tensor, core.slots.tensor_node);
    if (array == NULL || edge == NULL || !PyArray_CheckExact(array) || PyArray_ISCOMPLEX((PyArrayObject *)array))
        return HAND_OVER;
    PyObject *mode = current_mode();
    if (mode == NULL)
        return FAILED;
    int records = mode == core.RECORD, usual = records || (mode == core.NO_GRAD && edge == Py_None);
    Py_DECREF(mode);
    if (!usual || (edge == Py_None && is_set(((Base *)tensor)->cut)))
        return HAND_OVER;
    source->tensor = tensor;
    source->array = Py_NewRef(array);
    source->edge = edge == Py_None ? NULL : Py_NewRef(edge);
    source->marked = !records;
    return DONE;
}

/* Reads what the views of a tensor have in common. */
int source_ready(Source *source)
{
    const Base *tensor = (Base *)source->tensor;
    source->storage = is_set(tensor->storage) ? Py_NewRef(tensor->storage) : PyObject_CallOneArg(core.storage_of, source->tensor);
    source->base = Py_NewRef(is_set(tensor->base) ? tensor->base : source->tensor);
    source->path = tensor->path == NULL ? PyTuple_New(0) : Py_NewRef(tensor->path);
    source->marked |= is_set(tensor->inference) || is_set(tensor->made_untracked);
    return source->storage == NULL || source->path == NULL ? -1 : 0;
}

/* Lets go of all that a source owns. */
void source_release(Source *source)
{
    Py_XDECREF(source->array);
    Py_XDECREF(source->edge);
    Py_XDECREF(source->storage);
    Py_XDECREF(source->base);
    Py_XDECREF(source->path);
}

/* What owns the memory of an array, as far as arrays lead. Borrowed. */
static PyObject *end_of(PyObject *array)
{
    PyObject *base;
    while (PyArray_Check(array) && (base = PyArray_BASE((PyArrayObject *)array)) != NULL)
        array = base;
    return array;
}

/* Whether an array is known to lie in the memory of another. */
int lies_within(PyObject *moved, PyObject *array)
{
    return PyArray_BASE((PyArrayObject *)moved) == array || end_of(moved) == end_of(array);
}

/* A tensor around an array that lies in the memory of a source, a step away; NULL for no node. */
PyObject *seen(const Source *source, PyObject *moved, PyObject *node, PyObject *primitive, PyObject *params)
{
    PyObject *result = tensor_new(moved, node);
    if (result == NULL)
        return NULL;
    PyObject *step = PyTuple_Pack(2, primitive, params);
    PyObject *path = step == NULL ? NULL : PyTuple_Pack(2, source->path, step);
    Py_XDECREF(step);
    int failed = path == NULL || storage_join(source->storage, result) < 0;
    Py_XSETREF(((Base *)result)->base, Py_NewRef(source->base));
    Py_XSETREF(((Base *)result)->path, path);
    if (!failed && source->marked) {
        PyObject *done = PyObject_CallFunctionObjArgs(core.mark, source->tensor, result, NULL);
        failed = done == NULL;
        Py_XDECREF(done);
    }
    if (failed)
        Py_CLEAR(result);
    return result;
}

/* The node of a view, where the source has a history; NULL for none, or with an exception. */
static PyObject *noted(const Source *source, PyObject *kind, PyObject *params, PyObject *moved)
{
    PyObject *edges = source->edge == NULL ? NULL : PyTuple_Pack(1, source->edge);
    return edges == NULL ? NULL : node_new(kind, edges, params, moved);
}

/* A view of a source, recorded with a node of a class; NULL for the class where the source has no history. */
PyObject *view_made(Source *source, PyObject *moved, PyObject *primitive, PyObject *params, PyObject *kind)
{
    PyObject *node = NULL;
    if (source->edge != NULL && (node = noted(source, kind, params, moved)) == NULL)
        return NULL;
    PyObject *result = source_ready(source) < 0 ? NULL : seen(source, moved, node, primitive, params);
    Py_XDECREF(node);
    return result;
}

/* `array[number, ...]` for a number within the bounds of the first axis, or counted from its end: what NumPy makes, at a third of
   the time. */
static PyObject *row_of(PyObject *object, npy_intp number)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (number < 0)
        number += PyArray_DIM(array, 0);
    Py_INCREF(PyArray_DESCR(array)); /* which the next call steals */
    PyObject *row = PyArray_NewFromDescr(&PyArray_Type, PyArray_DESCR(array), PyArray_NDIM(array) - 1, PyArray_DIMS(array) + 1,
                                         PyArray_STRIDES(array) + 1, PyArray_BYTES(array) + number * PyArray_STRIDE(array, 0),
                                         PyArray_FLAGS(array), NULL);
    if (row != NULL && PyArray_SetBaseObject((PyArrayObject *)row, Py_NewRef(object)) < 0)
        Py_CLEAR(row);
    return row;
}

/* What an index selects of an array. */
static PyObject *selected(PyObject *array, PyObject *index, long key)
{
    if (key != ROW)
        return PyObject_GetItem(array, index);
    return row_of(array, PyLong_AsSsize_t(PyTuple_GET_ITEM(index, 0)));
}

/* The view that an index selects. */
static PyObject *part(Source *source, PyObject *index, long key)
{
    PyObject *moved = selected(source->array, index, key), *result = NULL, *kind = NULL;
    if (moved == NULL || !PyArray_CheckExact(moved) || !lies_within(moved, source->array)) {
        Py_XDECREF(moved);
        return NULL;
    }
    PyObject *params = PyDict_New();
    if (params != NULL && PyDict_SetItem(params, names.index, index) == 0 &&
        (source->edge == NULL || (kind = index_kind(params, key)) != NULL))
        result = view_made(source, moved, core.getitem, params, kind);
    Py_XDECREF(kind);
    Py_XDECREF(params);
    Py_DECREF(moved);
    return result;
}

/* `x[index]`. */
PyObject *indexed(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    long key;
    if (keywords != NULL || count != 2 || source_read(&source, args[0]) != DONE)
        return NULL;
    PyObject *index = plain_index((PyArrayObject *)source.array, args[1], &key);
    PyObject *result = index == NULL ? NULL : part(&source, index, key);
    Py_XDECREF(index);
    source_release(&source);
    return result;
}

/* The keywords of a call, as a dict. */
static PyObject *keywords_of(PyObject *const *values, PyObject *keywords)
{
    PyObject *params = PyDict_New();
    for (Py_ssize_t i = 0; params != NULL && i < PyTuple_GET_SIZE(keywords); i++)
        if (PyDict_SetItem(params, PyTuple_GET_ITEM(keywords, i), values[i]) < 0)
            Py_CLEAR(params);
    return params;
}

/* The array that a primitive makes of a source's; NULL without an exception where it is none, or does not lie in its memory. */
static PyObject *moved_by(const Source *source, PyObject *primitive, PyObject *const *values, PyObject *keywords)
{
    PyObject *forward = PyObject_GetAttr(primitive, names.forward);
    PyObject *args[1 + MOST_KEYWORDS] = {source->array};
    memcpy(args + 1, values, (size_t)PyTuple_GET_SIZE(keywords) * sizeof(PyObject *));
    PyObject *moved = forward == NULL ? NULL : PyObject_Vectorcall(forward, args, 1, keywords);
    Py_XDECREF(forward);
    if (moved != NULL && !(PyArray_CheckExact(moved) && lies_within(moved, source->array)))
        Py_CLEAR(moved);
    return moved;
}

/* `view(primitive, x, **params)`, for one result. */
PyObject *viewed(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    if (keywords == NULL || count != 2 || args[0] == core.unbind || args[0] == core.split ||
        PyTuple_GET_SIZE(keywords) > MOST_KEYWORDS || source_read(&source, args[1]) != DONE)
        return NULL;
    PyObject *primitive = args[0], *result = NULL, *params = NULL, *kind = NULL;
    PyObject *moved = moved_by(&source, primitive, args + 2, keywords);
    if (moved != NULL && (params = keywords_of(args + 2, keywords)) != NULL &&
        (source.edge == NULL || (kind = PyObject_CallFunctionObjArgs(core.kind_of, primitive, params, NULL)) != NULL))
        result = view_made(&source, moved, primitive, params, kind);
    Py_XDECREF(kind);
    Py_XDECREF(params);
    Py_XDECREF(moved);
    source_release(&source);
    return result;
}

/* The shapes of rows, which are all the same. */
static PyObject *shapes_of(PyObject *array, Py_ssize_t count)
{
    PyObject *shapes = PyList_New(count), *whole = shape_of(array);
    PyObject *shape = whole == NULL ? NULL : PyTuple_GetSlice(whole, 1, PyTuple_GET_SIZE(whole));
    Py_XDECREF(whole);
    for (Py_ssize_t i = 0; shapes != NULL && shape != NULL && i < count; i++)
        PyList_SET_ITEM(shapes, i, Py_NewRef(shape));
    if (shape == NULL)
        Py_CLEAR(shapes);
    Py_XDECREF(shape);
    return shapes;
}

/* The tuple of edges of the outputs of an unbind along the first axis: its node alone. */
static PyObject *unbinding(const Source *source, Py_ssize_t count)
{
    PyObject *params = PyDict_New(), *axis = PyLong_FromLong(0), *shapes = shapes_of(source->array, count), *edges = NULL;
    if (params != NULL && axis != NULL && shapes != NULL && PyDict_SetItem(params, names.axis, axis) == 0) {
        PyObject *kind = PyObject_CallFunctionObjArgs(core.kind_of, core.unbind, params, NULL);
        PyObject *node = kind == NULL ? NULL : noted(source, kind, params, NULL);
        if (node != NULL && PyDict_SetItem(params, names.shapes, shapes) == 0)
            edges = PyTuple_Pack(1, node);
        Py_XDECREF(node);
        Py_XDECREF(kind);
    }
    Py_XDECREF(shapes);
    Py_XDECREF(axis);
    Py_XDECREF(params);
    return edges;
}

/* One row as a tensor; `edges` are those of the outputs, or NULL without a history. */
static PyObject *row_seen(const Source *source, PyObject *edges, Py_ssize_t number)
{
    PyObject *row = row_of(source->array, number), *index = Py_BuildValue("(nO)", number, Py_Ellipsis), *result = NULL;
    PyObject *params = index == NULL ? NULL : PyDict_New(), *output = NULL;
    int failed = row == NULL || params == NULL || PyDict_SetItem(params, names.index, index) < 0;
    if (!failed && edges != NULL)
        failed = (output = output_new(PyTuple_GET_ITEM(edges, 0), edges, number, row)) == NULL;
    if (!failed)
        result = seen(source, row, output, core.getitem, params);
    Py_XDECREF(output);
    Py_XDECREF(params);
    Py_XDECREF(index);
    Py_XDECREF(row);
    return result;
}

/* `iter(x)`: over its rows, as views with a common node. */
PyObject *iterated(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    if (keywords != NULL || count != 1 || source_read(&source, args[0]) != DONE)
        return NULL;
    PyObject *rows = NULL, *edges = NULL, *iterator = NULL;
    Py_ssize_t length = PyArray_NDIM((PyArrayObject *)source.array) == 0 ? 0 : PyArray_DIM((PyArrayObject *)source.array, 0);
    if (length > 0 && (source.edge == NULL || (edges = unbinding(&source, length)) != NULL) && source_ready(&source) == 0)
        rows = PyTuple_New(length);
    for (Py_ssize_t i = 0; rows != NULL && i < length; i++) {
        PyObject *row = row_seen(&source, edges, i);
        if (row == NULL)
            Py_CLEAR(rows);
        else
            PyTuple_SET_ITEM(rows, i, row);
    }
    if (rows != NULL)
        iterator = PyObject_GetIter(rows);
    Py_XDECREF(rows);
    Py_XDECREF(edges);
    source_release(&source);
    return iterator;
}
