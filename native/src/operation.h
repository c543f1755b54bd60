/* An operation: what stands in place of a Python function, and holds it. */

#ifndef PULLBACK_OPERATION_H
#define PULLBACK_OPERATION_H

#include "core.h"

#define OPERANDS 64 /* as many as a call may have, else it is Python's */
#define KEYWORDS 8
#define SAVED 8
#define MANY (-1)   /* any number of operands */
#define RESULT (-1) /* the place of the result among what is saved */
#define BESIDE_ZERO 2 /* the variant whose function takes a 0 as its last operand */
#define NAMED 1       /* that of `t()`, of the variants of transposes */
#define EXCHANGED 2   /* that of two axes */

/* A value that the rules of some operands name: saved if one of these is tracked. */
typedef struct {
    int place;      /* of an operand, or RESULT */
    int starred;    /* whether all operands that follow are meant, too */
    uint64_t users; /* one bit for each operand */
} Saving;

typedef struct Operation Operation;

/* Does the usual case of a call; NULL without an exception for any other. */
typedef PyObject *(*Attempt)(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);

struct Operation {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Attempt attempt, usual; /* what is tried, which is the usual case unless the Python function has other code */
    PyObject *dict, *weakrefs;
    PyObject *code;     /* of the Python function, NULL unless it was replaced */
    PyObject *fallback; /* the Python function; None where that asks first, and is told None */
    PyObject *forward;  /* what computes it, on arrays; what follows is that of elementwise operations and products */
    PyObject *kind;     /* its class of nodes, or the primitive where that follows from the metadata; NULL without a derivative */
    Py_ssize_t large;   /* the size from which it may go to machine code, and so to Python */
    int operands, ndim; /* how many, and how many axes each has; -1 for any number */
    int typed;          /* whether all have one floating dtype, and results have it too; it takes no metadata */
    int numbers;        /* whether the second may be a Python number */
    int fresh;          /* whether results always have memory of their own, and the operands' dtype or bools: those of ufuncs */
    int variant;        /* which of two it is, where one function does both */
    int savings;
    Saving saved[SAVED];
};

/* One call of an operation. What it has read of its operands is owned by `record`; all else is the caller's. */
typedef struct Call Call;
struct Call {
    const Operation *operation;
    int count;
    PyObject *keywords, *const *values; /* the names and values of metadata; no names, NULL */
    PyObject *(*compute)(const Call *call); /* its result; NULL without an exception where Python must look at it */
    void *facts;                            /* what `compute` is told, and may write values to */
    PyObject *key;                          /* of the class of its node, where that follows from the metadata; may be NULL */
    uint64_t tracked;                       /* one bit for each operand that has a history */
    Operand *operands;
};

PyObject *record(Call *call, PyObject *const *args);
PyObject *record_write(Call *call, PyObject *const *args);
PyObject *computed(const Call *call);
void divide(PyObject *array, npy_intp start, npy_intp count, double divisor);
PyObject *ones(npy_intp count, PyObject *like);
PyObject *params_of(PyObject *keywords, PyObject *const *values);

#define FORM(name) PyObject *name(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
FORM(recorded) FORM(indexed) FORM(assigned) FORM(replaced) FORM(unbound) FORM(divided) FORM(reshaped) FORM(transposed)
FORM(viewed) FORM(joined) FORM(reduced) FORM(product) FORM(projected) FORM(lost) FORM(selected) FORM(gathered)

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
