/* The attributes of a tensor that only few set themselves, and those of nodes, as fields. */

#ifndef PULLBACK_BASE_H
#define PULLBACK_BASE_H

#include "core.h"

/* NULL stands for the default: `()` for the path, False for `inference`, 0 for `writes`, None for all others. Owns its fields, which
   follow each other from the first to the last. */
typedef struct {
    PyObject_HEAD
    PyObject *storage, *base, *path, *made_untracked, *inference, *cut, *writes;
} Base;

/* The attributes of a node. Owns its fields, which follow each other; `slots` and Python know all but the edges by their places. */
typedef struct {
    PyObject_HEAD
    PyObject *edges, *saved, *params, *hooks, *shape, *seq, *code, *offset;
} Links;

extern PyTypeObject *base_type, *links_type;
int base_ready(void);
int is_set(PyObject *value);

/* The tuple of edges of a node, borrowed. */
static inline PyObject *edges_of(PyObject *node)
{
    return ((Links *)node)->edges;
}

#endif
