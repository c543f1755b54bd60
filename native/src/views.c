/* Views: tensors that lie in the memory of others.

   Beside: `view` and `_seen` in `_tape/views.py`, `getitem` in `vocabulary/indexing.py`, `Tensor.__iter__`. */

#include "operation.h"

#define MOST_PIECES 64

/* Reads a plain tensor in a usual mode, of which a view can be made. */
Outcome source_read(Source *source, PyObject *tensor)
{
    memset(source, 0, sizeof(Source));
    PyObject *array = plain_array(tensor), *edge = array == NULL ? NULL : slot_get(tensor, core.slots.tensor_node);
    if (edge == NULL || PyArray_ISCOMPLEX((PyArrayObject *)array))
        return HAND_OVER;
    Usage usage = usage_now();
    if (usage == UNKNOWN)
        return FAILED;
    if (usage == OTHER || (edge != Py_None ? usage == NO_RECORDS : is_set(((Base *)tensor)->cut)))
        return HAND_OVER;
    source->tensor = tensor;
    source->array = Py_NewRef(array);
    source->edge = edge == Py_None ? NULL : Py_NewRef(edge);
    source->marked = usage == NO_RECORDS;
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
    release(source->array, source->edge, source->storage);
    release(source->base, source->path, NULL);
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

/* Metadata of one entry, as a dict. */
PyObject *params_with(PyObject *name, PyObject *value)
{
    PyObject *params = PyDict_New();
    if (params != NULL && PyDict_SetItem(params, name, value) < 0)
        Py_CLEAR(params);
    return params;
}

/* The path that leads on by a step. Steals the step, which may be NULL. */
static PyObject *path_on(PyObject *path, PyObject *step)
{
    PyObject *longer = step == NULL ? NULL : PyTuple_Pack(2, path, step);
    Py_XDECREF(step);
    return longer;
}

/* A tensor around an array that lies in the memory of a source; NULL for no node. Steals the path to it, which may be NULL. */
static PyObject *seen(const Source *source, PyObject *moved, PyObject *node, PyObject *path)
{
    PyObject *result = path == NULL ? NULL : tensor_new(moved, node);
    if (result == NULL) {
        Py_XDECREF(path);
        return NULL;
    }
    int failed = storage_join(source->storage, result) < 0;
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

/* The path of a source's views by a primitive with some metadata. */
PyObject *path_by(Source *source, PyObject *primitive, PyObject *params)
{
    return source_ready(source) < 0 ? NULL : path_on(source->path, PyTuple_Pack(2, primitive, params));
}

/* The metadata of the last step of a path, borrowed. */
static PyObject *params_in(PyObject *path)
{
    return PyTuple_GET_ITEM(PyTuple_GET_ITEM(path, 1), 1);
}

/* A view of a source that is ready, recorded with a node of a class; NULL for the class where the source has no history. Steals the
   path to it, which may be NULL. */
PyObject *view_made(Source *source, PyObject *moved, PyObject *path, PyObject *kind)
{
    PyObject *node = path == NULL || source->edge == NULL ? NULL : noted(source, kind, params_in(path), moved);
    int failed = path == NULL || (source->edge != NULL && node == NULL);
    PyObject *result = failed ? NULL : seen(source, moved, node, Py_NewRef(path));
    release(node, path, NULL);
    return result;
}

/* The part of an array that starts at a place of an axis, with so many places, or, for -1, that one place without the axis: what
   NumPy makes of an int or a slice, at a third of the time. NULL without an exception for an array of too many axes. */
static PyObject *slab(PyObject *object, int axis, npy_intp start, npy_intp length)
{
    PyArrayObject *array = (PyArrayObject *)object;
    npy_intp shape[MOST_AXES], strides[MOST_AXES];
    int ndim = 0;
    if (PyArray_NDIM(array) > MOST_AXES)
        return NULL;
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        if (i == axis && length < 0)
            continue;
        shape[ndim] = i == axis ? length : PyArray_DIM(array, i);
        strides[ndim++] = PyArray_STRIDE(array, i);
    }
    Py_INCREF(PyArray_DESCR(array)); /* which the next call steals */
    PyObject *part = PyArray_NewFromDescr(&PyArray_Type, PyArray_DESCR(array), ndim, shape, strides,
                                          PyArray_BYTES(array) + start * PyArray_STRIDE(array, axis), PyArray_FLAGS(array), NULL);
    if (part != NULL && PyArray_SetBaseObject((PyArrayObject *)part, Py_NewRef(object)) < 0)
        Py_CLEAR(part);
    return part;
}

/* The lengths of the pieces of an array along an axis, and where each starts: of each place alone, or of these sizes. */
typedef struct {
    int axis;
    PyObject *sizes; /* a tuple of ints that add up to the length of the axis, or NULL */
    npy_intp start;
} Cut;

/* The step that leads to a piece: `getitem` with an index. */
static PyObject *step_to(const Cut *cut, npy_intp start, npy_intp length)
{
    int single = length < 0;
    PyObject *entry = PyLong_FromSsize_t(start), *index = PyTuple_New(cut->axis + 1 + single), *step = NULL;
    if (entry != NULL && !single) {
        PyObject *stop = PyLong_FromSsize_t(start + length);
        Py_SETREF(entry, stop == NULL ? NULL : PySlice_New(entry, stop, NULL));
        Py_XDECREF(stop);
    }
    for (int i = 0; index != NULL && i < cut->axis; i++)
        PyTuple_SET_ITEM(index, i, Py_NewRef(core.whole));
    if (index != NULL && entry != NULL) {
        PyTuple_SET_ITEM(index, cut->axis, Py_NewRef(entry));
        if (single)
            PyTuple_SET_ITEM(index, cut->axis + 1, Py_NewRef(Py_Ellipsis));
        step = Py_BuildValue("O{OO}", core.getitem, names.index, index);
    }
    release(index, entry, NULL);
    return step;
}

/* The path to a row or column. The first ones of what is no view are made once, since nothing changes them. */
static PyObject *path_to_row(const Cut *cut, PyObject *path, npy_intp number)
{
    static PyObject *known[2][MOST_PIECES];
    if (cut->axis > 1 || number >= MOST_PIECES)
        return path_on(path, step_to(cut, number, -1));
    PyObject **place = &known[cut->axis][number];
    if (*place == NULL) {
        PyObject *none = PyTuple_New(0);
        *place = none == NULL ? NULL : path_on(none, step_to(cut, number, -1));
        Py_XDECREF(none);
    }
    if (*place == NULL || PyTuple_GET_SIZE(path) == 0)
        return Py_XNewRef(*place);
    return path_on(path, Py_NewRef(PyTuple_GET_ITEM(*place, 1)));
}

/* The view that an index selects. */
static PyObject *part(Source *source, PyObject *index, long key)
{
    Cut rows = {0, NULL, 0};
    npy_intp given = key == ROW ? PyLong_AsSsize_t(PyTuple_GET_ITEM(index, 0)) : -1, number = given;
    if (key == ROW && given < 0)
        number += PyArray_DIM((PyArrayObject *)source->array, 0);
    PyObject *moved = key == ROW ? slab(source->array, 0, number, -1) : PyObject_GetItem(source->array, index);
    PyObject *params = NULL, *path = NULL, *kind = NULL, *result = NULL;
    if (moved != NULL && PyArray_CheckExact(moved) && lies_within(moved, source->array)) {
        if (given >= 0)
            path = source_ready(source) < 0 ? NULL : path_to_row(&rows, source->path, number);
        else if ((params = params_with(names.index, index)) != NULL)
            path = path_by(source, core.getitem, params);
        if (path != NULL && (source->edge == NULL || (kind = index_kind(params_in(path), key)) != NULL))
            result = view_made(source, moved, Py_NewRef(path), kind);
    }
    release(path, kind, params);
    Py_XDECREF(moved);
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
    int picking = index == NULL && !PyErr_Occurred();
    Py_XDECREF(index);
    source_release(&source);
    return picking ? picked(args[0], args[1]) : result;
}

/* `view(primitive, x, **params)`, for one result. */
PyObject *viewed(Operation *Py_UNUSED(operation), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source;
    if (keywords == NULL || count != 2 || args[0] == core.unbind || args[0] == core.split ||
        PyTuple_GET_SIZE(keywords) > MOST_KEYWORDS || source_read(&source, args[1]) != DONE)
        return NULL;
    PyObject *primitive = args[0], *forward = PyObject_GetAttr(primitive, names.forward), *given[1 + MOST_KEYWORDS] = {source.array};
    memcpy(given + 1, args + 2, (size_t)PyTuple_GET_SIZE(keywords) * sizeof(PyObject *));
    PyObject *moved = forward == NULL ? NULL : PyObject_Vectorcall(forward, given, 1, keywords);
    PyObject *result = NULL, *params = NULL, *kind = NULL;
    int within = moved != NULL && PyArray_CheckExact(moved) && lies_within(moved, source.array);
    if (within && (params = params_of(keywords, args + 2)) != NULL &&
        (source.edge == NULL || (kind = PyObject_CallFunctionObjArgs(core.kind_of, primitive, params, NULL)) != NULL))
        result = view_made(&source, moved, path_by(&source, primitive, params), kind);
    release(kind, params, moved);
    Py_XDECREF(forward);
    source_release(&source);
    return result;
}

/* One piece as a tensor; `edges` are those of the outputs, or NULL without a history. Adds its shape to the list. */
static PyObject *piece_seen(const Source *source, Cut *cut, PyObject *edges, PyObject *shapes, Py_ssize_t number)
{
    npy_intp start = cut->start, length = cut->sizes == NULL ? -1 : PyLong_AsSsize_t(PyTuple_GET_ITEM(cut->sizes, number));
    PyObject *piece = slab(source->array, cut->axis, start, length), *result = NULL, *output = NULL;
    cut->start += length < 0 ? 1 : length;
    int failed = piece == NULL;
    if (!failed && edges != NULL) {
        int known = length < 0 && number > 0; /* rows have one shape */
        output = output_new(PyTuple_GET_ITEM(edges, 0), edges, number, known ? Py_NewRef(PyList_GET_ITEM(shapes, 0)) : shape_of(piece));
        failed = output == NULL || PyList_Append(shapes, slot_get(output, core.slots.shape)) < 0;
    }
    if (!failed)
        result = seen(source, piece, output,
                      length < 0 ? path_to_row(cut, source->path, start) : path_on(source->path, step_to(cut, start, length)));
    release(output, piece, NULL);
    return result;
}

/* The tuple of edges of the outputs of a cut: its node alone, which learns of their shapes, a list that grows. */
static PyObject *cutting(const Source *source, const Cut *cut, PyObject *label, PyObject *shapes)
{
    int rows = cut->sizes == NULL;
    PyObject *params = rows ? Py_BuildValue("{Oi}", names.axis, cut->axis)
                            : Py_BuildValue("{OiOOOO}", names.axis, cut->axis, names.sizes, cut->sizes, names.label, label);
    PyObject *kind = params == NULL ? NULL : kind_known(label, rows ? core.unbind : core.split, params), *node = NULL, *edges = NULL;
    if (kind != NULL && PyDict_SetItem(params, names.shapes, shapes) == 0)
        node = noted(source, kind, params, NULL);
    if (node != NULL)
        edges = PyTuple_Pack(1, node);
    release(node, kind, params);
    return edges;
}

/* All pieces along an axis, as views with a common node: a tuple. The label is the key of its class. */
static PyObject *pieces(Source *source, Cut *cut, PyObject *label)
{
    Py_ssize_t count = cut->sizes == NULL ? PyArray_DIM((PyArrayObject *)source->array, cut->axis) : PyTuple_GET_SIZE(cut->sizes);
    PyObject *shapes = PyList_New(0), *edges = NULL, *all = NULL;
    if (shapes != NULL && (source->edge == NULL || (edges = cutting(source, cut, label, shapes)) != NULL) && source_ready(source) == 0)
        all = PyTuple_New(count);
    for (Py_ssize_t i = 0; all != NULL && i < count; i++) {
        PyObject *piece = piece_seen(source, cut, edges, shapes, i);
        if (piece == NULL)
            Py_CLEAR(all);
        else
            PyTuple_SET_ITEM(all, i, piece);
    }
    release(edges, shapes, NULL);
    return all;
}

/* Reads a tensor, and an axis of it, or 0 for NULL. */
static Outcome cut_read(Source *source, Cut *cut, PyObject *tensor, PyObject *dim)
{
    Outcome outcome = source_read(source, tensor);
    if (outcome != DONE)
        return outcome;
    int ndim = PyArray_NDIM((PyArrayObject *)source->array), axis = axis_of(dim, ndim);
    *cut = (Cut){axis, NULL, 0};
    return axis < 0 || ndim > MOST_AXES ? HAND_OVER : DONE;
}

/* `x.unbind()` and `x.unbind(dim)`; or `iter(x)`, which is over the rows. */
PyObject *unbound(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source = {0};
    Cut cut;
    PyObject *all = NULL;
    if (keywords == NULL && (count == 1 || count == 2) && cut_read(&source, &cut, args[0], count == 2 ? args[1] : NULL) == DONE)
        all = pieces(&source, &cut, core.unbind);
    source_release(&source);
    if (all != NULL && operation->variant)
        Py_SETREF(all, PyObject_GetIter(all));
    return all;
}

/* `x.split(size)` and `x.split(size, dim)` for a size above 0; or `x.chunk(count)` and `x.chunk(count, dim)`. */
PyObject *divided(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Source source = {0};
    Cut cut;
    int overflow = 1;
    PyObject *all = NULL;
    npy_intp size = count < 2 || !PyLong_CheckExact(args[1]) ? 0 : PyLong_AsLongAndOverflow(args[1], &overflow);
    if (keywords == NULL && count < 4 && !overflow && size > 0 && cut_read(&source, &cut, args[0], count == 3 ? args[2] : NULL) == DONE) {
        npy_intp length = PyArray_DIM((PyArrayObject *)source.array, cut.axis), lengths[MOST_PIECES];
        if (operation->variant)
            size = length == 0 ? 1 : (length - 1) / size + 1;
        npy_intp many = length == 0 ? 0 : (length - 1) / size + 1; /* a tensor without elements has pieces, which Python makes */
        for (npy_intp i = 0; many <= MOST_PIECES && i < many; i++)
            lengths[i] = i < many - 1 ? size : length - i * size;
        if (many > 0 && many <= MOST_PIECES && (cut.sizes = tuple_of(lengths, many)) != NULL)
            all = pieces(&source, &cut, names.SplitBackward0);
        Py_XDECREF(cut.sizes);
    }
    source_release(&source);
    return all;
}
