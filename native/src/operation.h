/* An operation: what stands in place of a Python function, and holds it. */

#ifndef PULLBACK_OPERATION_H
#define PULLBACK_OPERATION_H

#include "core.h"

#define OPERANDS 16 /* as many as a call may have, else it is Python's */
#define KEYWORDS 8
#define SAVED 8
#define MANY (-1)   /* any number of operands */
#define RESULT (-1) /* the place of the result among what is saved */

/* A value that the rules of some operands name: saved if one of these is tracked. */
typedef struct {
    int place;          /* of an operand, or RESULT */
    unsigned int users; /* one bit for each operand */
} Saving;

typedef struct Operation Operation;

/* Does the usual case of a call; NULL without an exception for any other. */
typedef PyObject *(*Attempt)(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);

struct Operation {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Attempt attempt;
    PyObject *dict, *weakrefs;
    PyObject *fallback; /* the Python function; None where that asks first, and is told None */
    PyObject *forward;  /* what computes it, on arrays; what follows is that of elementwise operations and products */
    PyObject *kind;     /* its class of nodes, or the primitive where that follows from the metadata; NULL without a derivative */
    Py_ssize_t large;   /* the size from which it may go to machine code, and so to Python */
    int operands, ndim; /* how many, and how many axes each has; -1 for any number */
    int typed;          /* whether all have one floating dtype, and results have it too; it takes no metadata */
    int numbers;        /* whether the second may be a Python number */
    int fresh;          /* whether results always have memory of their own, and the operands' dtype or bools: those of ufuncs */
    int savings;
    Saving saved[SAVED];
};

PyObject *recorded(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *indexed(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *iterated(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *assigned(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *reshaped(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *unsqueezed(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *transposed(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *turned(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *reversed(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *viewed(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);

#endif
