/* How an operation on plain tensors is computed and recorded.

   Beside: the functions whose text `_tape/generating.py` writes. What is out of the ordinary is handed over to those. */

#include "operation.h"

/* Reads a plain tensor. */
static Outcome tensor_read(PyObject *given, Operand *operand)
{
    PyObject *array = plain_array(given), *edge = slot_get(given, core.slots.tensor_node);
    if (array == NULL)
        return HAND_OVER;
    operand->tensor = given;
    operand->array = Py_NewRef(array);
    operand->edge = edge == Py_None ? NULL : Py_XNewRef(edge);
    return DONE;
}

/* Reads an operand of one floating dtype, that of the first one, or a Python number in place of the second. */
static Outcome typed_read(PyObject *given, PyArray_Descr *dtype, int numbers, Operand *operand)
{
    if (is_a(given, core.Tensor)) {
        if (tensor_read(given, operand) != DONE)
            return HAND_OVER;
        PyArray_Descr *own = PyArray_DESCR((PyArrayObject *)operand->array);
        int usual = dtype == NULL ? own == core.single || own == core.twice : own == dtype;
        return usual ? DONE : HAND_OVER;
    }
    if (dtype == NULL || !numbers || !(PyFloat_CheckExact(given) || PyLong_CheckExact(given)))
        return HAND_OVER;
    operand->array = array_of_number(given, dtype);
    if (operand->array != NULL)
        return DONE;
    PyErr_Clear(); /* of an int that is too large: Python raises it again */
    return HAND_OVER;
}

/* Reads an operand of any dtype but the complex ones: a plain tensor or array. */
static Outcome any_read(PyObject *given, Operand *operand)
{
    if (is_a(given, core.Tensor)) {
        if (tensor_read(given, operand) != DONE)
            return HAND_OVER;
    } else if (PyArray_CheckExact(given))
        operand->array = Py_NewRef(given);
    else
        return HAND_OVER;
    return PyArray_ISCOMPLEX((PyArrayObject *)operand->array) ? HAND_OVER : DONE;
}

/* Reads all operands of a call. */
static Outcome operands_read(Call *call, PyObject *const *args)
{
    const Operation *operation = call->operation;
    PyArray_Descr *dtype = NULL;
    int tensors = 0;
    for (int i = 0; i < call->count; i++) {
        Operand *operand = &call->operands[i];
        Outcome outcome = operation->typed ? typed_read(args[i], dtype, operation->numbers, operand) : any_read(args[i], operand);
        if (outcome != DONE)
            return outcome;
        dtype = PyArray_DESCR((PyArrayObject *)operand->array);
        if (operation->ndim >= 0 && PyArray_NDIM((PyArrayObject *)operand->array) != operation->ndim)
            return HAND_OVER;
        tensors += operand->tensor != NULL;
        call->tracked |= (uint64_t)(operand->edge != NULL) << i;
    }
    int large = PyArray_SIZE((PyArrayObject *)call->operands[0].array) >= operation->large;
    return large || tensors == 0 ? HAND_OVER : DONE;
}

/* Whether the mode and the operands are usual: recorded with a history, or without one that was lost. */
static Outcome mode_read(const Call *call)
{
    Usage usage = usage_now();
    if (usage <= OTHER)
        return usage == UNKNOWN ? FAILED : HAND_OVER;
    if (call->tracked && (usage == NO_RECORDS || call->operation->kind == NULL))
        return HAND_OVER;
    for (int i = 0; !call->tracked && i < call->count; i++) {
        PyObject *tensor = call->operands[i].tensor;
        if (tensor != NULL && is_set(((Base *)tensor)->cut))
            return HAND_OVER;
    }
    return DONE;
}

/* Whether a result is boxed as it is. `shared` says whether it may lie in memory of an operand. */
static int is_usual(const Call *call, PyObject *result, int *shared)
{
    *shared = 0;
    if (!PyArray_CheckExact(result))
        return 0;
    if (call->operation->fresh)
        return 1;
    PyArray_Descr *dtype = PyArray_DESCR((PyArrayObject *)result);
    *shared = PyArray_BASE((PyArrayObject *)result) != NULL;
    for (int i = 0; i < call->count; i++)
        *shared |= result == call->operands[i].array;
    if (call->operation->typed)
        return dtype == PyArray_DESCR((PyArrayObject *)call->operands[0].array);
    return !call->tracked || PyTypeNum_ISFLOAT(dtype->type_num);
}

/* What the forward function of an operation gives, as an array. */
PyObject *computed(const Call *call)
{
    PyObject *given[OPERANDS + KEYWORDS], *zero = NULL;
    Py_ssize_t keywords = call->keywords == NULL ? 0 : PyTuple_GET_SIZE(call->keywords);
    for (int i = 0; i < call->count; i++)
        given[i] = call->operands[i].array;
    for (Py_ssize_t i = 0; i < keywords; i++)
        given[call->count + i] = call->values[i];
    PyArray_Descr *dtype = PyArray_DESCR((PyArrayObject *)given[0]);
    int beside = call->operation->typed && call->operation->variant == BESIDE_ZERO;
    if (beside && (given[call->count] = zero = array_of_number(core.zero, dtype)) == NULL)
        return NULL;
    PyObject *forward = call->operation->forward, *result = keywords > 0 ? NULL : looped(forward, given, call->count + beside);
    if (result == NULL && !PyErr_Occurred())
        result = quiet_array(forward, given, (size_t)(call->count + beside), call->keywords);
    Py_XDECREF(zero);
    if (result == NULL && PyErr_ExceptionMatches(PyExc_ValueError)) /* shapes that do not fit: Python says so properly */
        PyErr_Clear();
    return result;
}

/* The cell of the value at one place, that of an operand or of the result. */
static PyObject *kept(const Call *call, int place, PyObject *tensor)
{
    if (place == RESULT) {
        PyObject *cell = cell_new(slot_get(tensor, core.slots.tensor_array));
        if (cell != NULL)
            slot_set(tensor, core.slots.tensor_cell, Py_NewRef(cell));
        return cell;
    }
    const Operand *operand = &call->operands[place];
    if (operand->tensor != NULL)
        return cell_of_tensor(operand->tensor);
    if (call->operation->typed || PyDict_GET_SIZE(core.aliased) == 0)
        return cell_new(operand->array);
    return PyObject_CallOneArg(core.keep_array, operand->array);
}

/* The values that a node saves, as a tuple of cells: None for one that no rule of a tracked operand names. */
static PyObject *all_kept(const Call *call, PyObject *tensor)
{
    const Operation *operation = call->operation;
    Py_ssize_t count = 0, at = 0;
    int plain = 1; /* part of no cycle */
    for (int i = 0; i < operation->savings; i++)
        count += operation->saved[i].starred ? call->count - operation->saved[i].place : 1;
    PyObject *saved = PyTuple_New(count);
    for (int i = 0; saved != NULL && i < operation->savings; i++) {
        const Saving *saving = &operation->saved[i];
        int last = saving->starred ? call->count - 1 : saving->place;
        for (int place = saving->place; saved != NULL && place <= last; place++) {
            PyObject *cell = saving->users & call->tracked ? kept(call, place, tensor) : Py_NewRef(Py_None);
            if (cell == NULL)
                Py_CLEAR(saved);
            else
                PyTuple_SET_ITEM(saved, at++, cell);
            plain = plain && cell != NULL && (cell == Py_None || is_a(cell, core.Cell));
        }
    }
    if (saved != NULL && plain)
        PyObject_GC_UnTrack(saved);
    return saved;
}

/* The metadata of a call, as a dict. */
PyObject *params_of(PyObject *keywords, PyObject *const *values)
{
    PyObject *params = PyDict_New();
    for (Py_ssize_t i = 0; params != NULL && keywords != NULL && i < PyTuple_GET_SIZE(keywords); i++)
        if (PyDict_SetItem(params, PyTuple_GET_ITEM(keywords, i), values[i]) < 0)
            Py_CLEAR(params);
    return params;
}

/* The class of nodes of a call: of some primitives it follows from the metadata. */
static PyObject *kind_of(const Call *call, PyObject *params)
{
    PyObject *kind = call->operation->kind;
    if (PyType_Check(kind))
        return Py_NewRef(kind);
    if (call->key != NULL)
        return kind_known(call->key, kind, params);
    return PyObject_CallFunctionObjArgs(core.kind_of, kind, params, NULL);
}

/* The node of a call for an array; the tensor around it is NULL where the result is not saved. */
static PyObject *node_of(const Call *call, PyObject *array, PyObject *tensor)
{
    int plain = call->keywords == NULL && PyType_Check(call->operation->kind);
    PyObject *params = plain ? Py_NewRef(Py_None) : params_of(call->keywords, call->values);
    PyObject *kind = params == NULL ? NULL : kind_of(call, params), *node = NULL;
    PyObject *edges = kind == NULL ? NULL : PyTuple_New(call->count);
    for (int i = 0; edges != NULL && i < call->count; i++)
        PyTuple_SET_ITEM(edges, i, Py_NewRef(call->operands[i].edge == NULL ? Py_None : call->operands[i].edge));
    if (edges != NULL)
        node = node_new(kind, edges, call->keywords == NULL ? Py_None : params, array);
    release(kind, params, NULL);
    if (node != NULL && call->operation->savings > 0) {
        PyObject *saved = all_kept(call, tensor);
        if (saved == NULL)
            Py_CLEAR(node);
        else
            slot_set(node, core.slots.saved, saved);
    }
    return node;
}

/* Leaves a node on a new tensor. */
static int noted(const Call *call, PyObject *tensor)
{
    PyObject *node = node_of(call, slot_get(tensor, core.slots.tensor_array), tensor);
    if (node != NULL)
        slot_set(tensor, core.slots.tensor_node, node);
    return node == NULL ? -1 : 0;
}

/* `share(operands, tensor)`: a result that lies in memory of an operand. */
static int shared_with(const Call *call, PyObject *const *args, PyObject *tensor)
{
    PyObject *operands = PyTuple_New(call->count);
    for (int i = 0; operands != NULL && i < call->count; i++)
        PyTuple_SET_ITEM(operands, i, Py_NewRef(args[i]));
    PyObject *done = operands == NULL ? NULL : PyObject_CallFunctionObjArgs(core.share, operands, tensor, NULL);
    release(operands, done, NULL);
    return done == NULL ? -1 : 0;
}

/* Lets go of what `operands_read` has read, all or a part. */
static void operands_release(const Call *call)
{
    for (int i = 0; i < call->count; i++)
        release(call->operands[i].array, call->operands[i].edge, NULL);
}

/* The node of a write to the first operand, of which `assigned` has looked at the mode; NULL without an exception where operands are
   not usual. */
PyObject *record_write(Call *call, PyObject *const *args)
{
    Operand operands[OPERANDS] = {{NULL, NULL, NULL}};
    call->operands = operands;
    PyObject *node = operands_read(call, args) == DONE ? node_of(call, operands[0].array, NULL) : NULL;
    operands_release(call);
    return node;
}

/* The tensor that a call gives. */
PyObject *record(Call *call, PyObject *const *args)
{
    Operand operands[OPERANDS];
    PyObject *tensor = NULL;
    int shared;
    memset(operands, 0, (size_t)call->count * sizeof(Operand));
    call->operands = operands;
    Outcome outcome = operands_read(call, args);
    if (outcome == DONE)
        outcome = mode_read(call);
    PyObject *result = outcome == DONE ? call->compute(call) : NULL;
    if (result != NULL && is_usual(call, result, &shared)) {
        tensor = tensor_new(result, NULL);
        int failed = tensor != NULL && call->tracked && noted(call, tensor) < 0;
        if (tensor != NULL && !failed && shared)
            failed = shared_with(call, args, tensor) < 0;
        if (failed)
            Py_CLEAR(tensor);
    }
    Py_XDECREF(result);
    operands_release(call);
    return tensor;
}

/* The tensor that an operation gives, computed by its forward function. */
PyObject *recorded(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    int fits = operation->operands == MANY ? 0 < count && count <= OPERANDS : count == operation->operands; /* which are few */
    if (!fits || named > KEYWORDS || (named && operation->typed))
        return NULL;
    Call call = {operation, (int)count, named ? keywords : NULL, args + count, computed, NULL, NULL, 0, NULL};
    return record(&call, args);
}
