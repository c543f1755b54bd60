/* A rule, read from the Python table: a few calls of functions on the cotangent, on saved values and on constants. */

#ifndef PULLBACK_RULES_H
#define PULLBACK_RULES_H

#include "core.h"

#define MOST_ARGUMENTS 3
#define MOST_STEPS 8
#define MOST_VALUES 16 /* the cotangent, what is saved, constants, and the result of each step, in this order */

typedef struct {
    PyObject *function;
    int count, arguments[MOST_ARGUMENTS]; /* each the place of a value */
} Step;

typedef struct {
    int steps, constants;
    Step step[MOST_STEPS];
    PyObject *constant[MOST_VALUES];
} Rule;

typedef struct {
    int operands, saved;
    Py_ssize_t large; /* the size of the cotangent from which Python may have machine code for it */
    Rule *rule[MOST_ARGUMENTS]; /* for each operand; NULL for none */
} Rules;

const Rules *rules_of(PyObject *node_class);
Outcome rules_apply(const Rules *rules, PyObject *g, PyObject *edges, PyObject *saved, PyObject **results);

#endif
