/* The attributes of a tensor that only few set themselves, as fields. */

#ifndef PULLBACK_BASE_H
#define PULLBACK_BASE_H

#include "core.h"

/* NULL stands for the default: `()` for the path, False for `inference`, 0 for `writes`, None for all others. Owns its fields, which
   follow each other from the first to the last. */
typedef struct {
    PyObject_HEAD
    PyObject *storage, *base, *path, *made_untracked, *inference, *cut, *writes;
} Base;

extern PyTypeObject *base_type;
int base_ready(void);
int is_set(PyObject *value);

#endif
