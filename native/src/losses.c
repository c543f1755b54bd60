/* Cross-entropies of a few rows of scores, each with the index of its class.

   Beside: `cross_entropy` in `vocabulary/losses.py`, `known_losses` in `ops/exponentials.py`. A difference or a quotient of float32
   numbers that is computed in float64 and rounded is the same in every bit. */

#include <math.h>

#include "operation.h"

static double number_at(PyObject *array, npy_intp at)
{
    const void *data = PyArray_DATA((PyArrayObject *)array);
    return PyArray_TYPE((PyArrayObject *)array) == NPY_FLOAT ? ((const float *)data)[at] : ((const double *)data)[at];
}

static void number_put(PyObject *array, npy_intp at, double value)
{
    void *data = PyArray_DATA((PyArrayObject *)array);
    if (PyArray_TYPE((PyArrayObject *)array) == NPY_FLOAT)
        ((float *)data)[at] = (float)value;
    else
        ((double *)data)[at] = value;
}

/* Divides the numbers of a new array from a place on. */
void divide(PyObject *array, npy_intp start, npy_intp count, double divisor)
{
    for (npy_intp i = start; i < start + count; i++)
        number_put(array, i, number_at(array, i) / divisor);
}

/* Writes the scores less the largest of each row, those of the correct classes, and where these lie. 0 where one is not finite, or a
   class is not there. */
static int shift(PyObject *scores, const npy_intp *classes, npy_intp columns, PyObject **parts)
{
    npy_intp rows = PyArray_DIM((PyArrayObject *)scores, 0), *places = PyArray_DATA((PyArrayObject *)parts[2]);
    for (npy_intp row = 0; row < rows; row++) {
        double top = -HUGE_VAL;
        for (npy_intp i = row * columns; i < (row + 1) * columns; i++) {
            double score = number_at(scores, i);
            if (!isfinite(score))
                return 0;
            top = score > top ? score : top;
        }
        for (npy_intp i = row * columns; i < (row + 1) * columns; i++)
            number_put(parts[1], i, number_at(scores, i) - top);
        if (classes[row] < 0 || classes[row] >= columns)
            return 0;
        places[row] = row * columns + classes[row];
        number_put(parts[0], row, number_at(parts[1], places[row]));
    }
    return 1;
}

/* So many ones of the dtype of an array, which is known: nobody may change them. */
PyObject *ones(npy_intp count, PyObject *like)
{
    return PyObject_CallFunction(core.make_ones, "nO", count, PyArray_DESCR((PyArrayObject *)like));
}

/* The mean of losses, or NULL. `parts` are the losses, which are the scores of the classes so far, the probabilities, which are
   shifted scores so far, and the places. */
static PyObject *finished(PyObject **parts, npy_intp rows, npy_intp columns)
{
    PyObject *given[] = {parts[1], parts[1]}, *powers = quietly(core.exp, given, 2, NULL), *total = NULL;
    PyObject *row = powers == NULL ? NULL : ones(columns, powers), *column = row == NULL ? NULL : ones(rows, powers);
    PyObject *sums = column == NULL ? NULL : dot(powers, row);
    PyObject *logs = sums == NULL ? NULL : quietly(core.log, &sums, 1, NULL);
    for (npy_intp i = 0; logs != NULL && i < rows; i++) {
        number_put(parts[0], i, number_at(logs, i) - number_at(parts[0], i));
        divide(powers, i * columns, columns, number_at(sums, i));
    }
    if (logs != NULL && (total = dot(parts[0], column)) != NULL)
        divide(total, 0, 1, (double)rows);
    release(logs, sums, column);
    release(row, powers, NULL);
    return total;
}

static PyObject *mean_loss(const Call *call)
{
    PyArrayObject *scores = (PyArrayObject *)call->operands[0].array, *classes = (PyArrayObject *)call->operands[1].array;
    PyArray_Descr *dtype = PyArray_DESCR(scores);
    int usual = (dtype == core.single || dtype == core.twice) && PyArray_NDIM(scores) == 2 && PyArray_ISCARRAY_RO(scores) &&
                PyArray_NDIM(classes) == 1 && PyArray_ISCARRAY_RO(classes) && PyArray_TYPE(classes) == NPY_INTP;
    npy_intp *shape = PyArray_DIMS(scores), size = PyArray_SIZE(scores);
    if (!usual || size == 0 || PyArray_DIM(classes, 0) != shape[0] || size >= PyLong_AsSsize_t(core.loss_size))
        return NULL;
    PyObject *parts[3] = {NULL}, *total = NULL, **metadata = call->facts;
    for (int i = 0; i < 3; i++)
        if ((parts[i] = PyArray_SimpleNew(i == 1 ? 2 : 1, shape, i == 2 ? NPY_INTP : dtype->type_num)) == NULL)
            goto done;
    if (shift((PyObject *)scores, PyArray_DATA(classes), shape[1], parts))
        total = finished(parts, shape[0], shape[1]);
    if (total != NULL && (metadata[1] = PyTuple_Pack(3, parts[0], parts[1], parts[2])) == NULL)
        Py_CLEAR(total);
done:
    for (int i = 0; i < 3; i++)
        Py_XDECREF(parts[i]);
    return total;
}

/* `cross_entropy(input, target)`. */
PyObject *lost(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    if (keywords != NULL || count != 2 || !is_a(args[0], core.Tensor) || !is_a(args[1], core.Tensor))
        return NULL;
    PyObject *metadata[2] = {names.mean, NULL};
    Call call = {operation, 2, core.loss_names, metadata, mean_loss, metadata, NULL, 0, NULL};
    PyObject *tensor = record(&call, args);
    Py_XDECREF(metadata[1]);
    return tensor;
}
