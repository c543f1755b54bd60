/* An operation: what stands in place of a Python function, and holds it. */

#ifndef PULLBACK_OPERATION_H
#define PULLBACK_OPERATION_H

#include "core.h"

#define OPERANDS 2
#define RESULT OPERANDS /* the place of the result among what is saved */

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
    PyObject *kind;     /* its class of nodes; NULL if it has no derivative */
    Py_ssize_t large;   /* the size from which it may go to machine code, and so to Python */
    int operands, ndim; /* how many, and how many axes each has; -1 for any number */
    int numbers;        /* whether the second may be a Python number */
    int fresh;          /* whether results always have memory of their own, and the operands' dtype or bools: those of ufuncs */
    int savings;
    Saving saved[OPERANDS + 1];
};

PyObject *recorded(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *indexed(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *iterated(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *viewed(Operation *operation, PyObject *const *args, Py_ssize_t count, PyObject *keywords);

#endif
