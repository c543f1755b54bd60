/* What makes views shares. */

#ifndef PULLBACK_VIEWS_H
#define PULLBACK_VIEWS_H

#include "base.h"
#include "operation.h"

#define MOST_KEYWORDS 4
#define MOST_AXES 16
#define MOST_PICKS 8

/* A tensor that is about to be seen in another way. All is owned, but for the tensor. */
typedef struct {
    PyObject *tensor, *array;
    PyObject *edge;          /* NULL without a history */
    PyObject *storage;       /* NULL until it is asked for */
    PyObject *base, *path;   /* of the views that are made */
    int marked;              /* whether `_mark` has something to note on these */
} Source;

Outcome source_read(Source *source, PyObject *tensor);
int source_ready(Source *source);
void source_release(Source *source);
PyObject *path_by(Source *source, PyObject *primitive, PyObject *params);
PyObject *view_made(Source *source, PyObject *moved, PyObject *path, PyObject *kind);
int lies_within(PyObject *moved, PyObject *array);
PyObject *flattened(PyObject *tensor);
PyObject *params_with(PyObject *name, PyObject *value);

/* The types of the entries of an index, as digits of its key; and the key of an index of one int. */
enum { NUMBER = 1, PART, WHOLE, ADDED, DOTS, DIGITS, ROW = NUMBER * DIGITS + DOTS };

/* indices.c */
PyObject *plain_index(PyArrayObject *array, PyObject *index, long *key);
PyObject *index_kind(PyObject *params, long key);
int slice_digit(PyObject *entry);

/* picks.c */
PyObject *picked(PyObject *tensor, PyObject *index);
int picks_read(PyObject *index, PyObject **spec, PyObject **picks);
void picks_release(PyObject *spec, PyObject **picks, int count);
PyObject *place_of(PyArrayObject *array, PyObject *spec, PyObject *const *picks, int *sole);
PyArrayObject *simple_pick(PyArrayObject *array, PyObject *place, PyArrayObject *value);
int put(PyArrayObject *array, PyArrayObject *pick, PyObject *value);

#endif
