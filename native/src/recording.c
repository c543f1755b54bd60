/* How an operation on plain tensors is computed and recorded.

   Beside: the functions whose text `_tape/generating.py` writes. What is out of the ordinary is handed over to those. */

#include "operation.h"

static int is_tensor(PyObject *given)
{
    return Py_IS_TYPE(given, core.Tensor);
}

/* Reads a plain tensor. */
static Outcome tensor_read(PyObject *given, Operand *operand)
{
    PyObject *array = slot_get(given, core.slots.tensor_array), *edge = slot_get(given, core.slots.tensor_node);
    if (array == NULL || !PyArray_CheckExact(array))
        return HAND_OVER;
    operand->tensor = given;
    operand->array = Py_NewRef(array);
    operand->edge = edge == Py_None ? NULL : Py_XNewRef(edge);
    return DONE;
}

/* Reads an operand: a plain tensor of one of two dtypes, or of that of the first one, or a number in its place. */
static Outcome operand_read(PyObject *given, PyArray_Descr *dtype, int numbers, Operand *operand)
{
    if (is_tensor(given)) {
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

/* Whether this mode and these operands are usual: recorded with a history, or without one that was lost. */
static Outcome mode_read(const Operation *operation, const Operand *operands, unsigned int tracked)
{
    PyObject *mode = current_mode();
    if (mode == NULL)
        return FAILED;
    int records = mode == core.RECORD, usual = records || mode == core.NO_GRAD;
    Py_DECREF(mode);
    if (!usual || (tracked && (!records || operation->kind == NULL)))
        return HAND_OVER;
    for (int i = 0; !tracked && i < operation->operands; i++) {
        int whole = operands[i].tensor == NULL ? 1 : is_none_attribute(operands[i].tensor, names.cut);
        if (whole <= 0)
            return whole < 0 ? FAILED : HAND_OVER;
    }
    return DONE;
}

/* The result as an array; NULL without an exception where Python must look at it. */
static PyObject *computed(const Operation *operation, const Operand *operands)
{
    PyObject *arrays[OPERANDS] = {operands[0].array, operands[1].array};
    PyObject *result = quiet_array(operation->forward, arrays, (size_t)operation->operands);
    if (result == NULL) {
        if (PyErr_ExceptionMatches(PyExc_ValueError)) /* shapes that do not fit: Python says so properly */
            PyErr_Clear();
        return NULL;
    }
    if (!PyArray_CheckExact(result))
        Py_CLEAR(result);
    else if (!operation->fresh) {
        PyArrayObject *array = (PyArrayObject *)result;
        int own = PyArray_BASE(array) == NULL && result != arrays[0] && result != arrays[1];
        if (!own || PyArray_DESCR(array) != PyArray_DESCR((PyArrayObject *)arrays[0]))
            Py_CLEAR(result);
    }
    return result;
}

/* The cell of one saved value, or None where no rule of a tracked operand names it. */
static PyObject *kept(const Saving *saving, const Operand *operands, unsigned int tracked, PyObject *tensor)
{
    if ((saving->users & tracked) == 0)
        return Py_NewRef(Py_None);
    if (saving->place == RESULT) {
        PyObject *cell = cell_new(slot_get(tensor, core.slots.tensor_array));
        if (cell != NULL)
            slot_set(tensor, core.slots.tensor_cell, Py_NewRef(cell));
        return cell;
    }
    const Operand *operand = &operands[saving->place];
    return operand->tensor == NULL ? cell_new(operand->array) : cell_of_tensor(operand->tensor);
}

/* Leaves a node on a new tensor. */
static int noted(const Operation *operation, const Operand *operands, unsigned int tracked, PyObject *tensor)
{
    PyObject *edges = PyTuple_New(operation->operands);
    for (int i = 0; edges != NULL && i < operation->operands; i++)
        PyTuple_SET_ITEM(edges, i, Py_NewRef(operands[i].edge == NULL ? Py_None : operands[i].edge));
    PyObject *node = node_new(operation->kind, edges, Py_None, slot_get(tensor, core.slots.tensor_array));
    PyObject *saved = node == NULL || operation->savings == 0 ? NULL : PyTuple_New(operation->savings);
    int failed = node == NULL || (operation->savings != 0 && saved == NULL);
    for (int i = 0; !failed && i < operation->savings; i++) {
        PyObject *cell = kept(&operation->saved[i], operands, tracked, tensor);
        if (cell == NULL)
            failed = 1;
        else
            PyTuple_SET_ITEM(saved, i, cell);
    }
    if (failed) {
        Py_XDECREF(saved);
        Py_XDECREF(node);
        return -1;
    }
    if (saved != NULL)
        slot_set(node, core.slots.saved, saved);
    slot_set(tensor, core.slots.tensor_node, node);
    return 0;
}

/* Reads all operands, and returns the bits of those that are tracked. */
static Outcome operands_read(const Operation *operation, PyObject *const *args, Operand *operands, unsigned int *tracked)
{
    PyArray_Descr *dtype = NULL;
    for (int i = 0; i < operation->operands; i++) {
        Outcome outcome = operand_read(args[i], dtype, operation->numbers, &operands[i]);
        if (outcome != DONE)
            return outcome;
        PyArrayObject *array = (PyArrayObject *)operands[i].array;
        dtype = PyArray_DESCR(array);
        if (operation->ndim >= 0 && PyArray_NDIM(array) != operation->ndim)
            return HAND_OVER;
        *tracked |= (unsigned int)(operands[i].edge != NULL) << i;
    }
    return PyArray_SIZE((PyArrayObject *)operands[0].array) >= operation->large ? HAND_OVER : DONE;
}

/* The tensor that an operation gives, or NULL: with an exception, or without one to hand over. */
PyObject *recorded(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    if (keywords != NULL || count != operation->operands)
        return NULL;
    Operand operands[OPERANDS] = {{NULL, NULL, NULL}, {NULL, NULL, NULL}};
    unsigned int tracked = 0;
    PyObject *tensor = NULL;
    Outcome outcome = operands_read(operation, args, operands, &tracked);
    if (outcome == DONE)
        outcome = mode_read(operation, operands, tracked);
    PyObject *result = outcome == DONE ? computed(operation, operands) : NULL;
    if (result != NULL) {
        tensor = tensor_new(result, NULL);
        if (tensor != NULL && tracked && noted(operation, operands, tracked, tensor) < 0)
            Py_CLEAR(tensor);
        Py_DECREF(result);
    }
    for (int i = 0; i < operation->operands; i++) {
        Py_XDECREF(operands[i].array);
        Py_XDECREF(operands[i].edge);
    }
    return tensor;
}
