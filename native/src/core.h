/* What the files of the core share.

   References: a function that returns an object returns a new reference, unless its comment says "borrowed". What a function
   is given stays the caller's, unless its comment says "steals". A function that may hand over to Python returns an `Outcome`,
   or NULL without an exception: then nothing that can be seen has changed, and the Python function beside it is called. */

#ifndef PULLBACK_CORE_H
#define PULLBACK_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#ifndef PULLBACK_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

typedef enum { FAILED = -1, HAND_OVER = 0, DONE = 1 } Outcome;

/* Where slots of Python classes lie inside of their instances, in bytes. */
typedef struct {
    Py_ssize_t tensor_array, tensor_node, tensor_cell;
    Py_ssize_t cell_array;
    Py_ssize_t storage_members, storage_cells, storage_limit, storage_version;
    Py_ssize_t edges, saved, params, shape, seq, code, offset, hooks;
} Slots;

/* What Python tells once, by `setup`: classes, functions, and the values that are compared by identity. All are owned. */
typedef struct {
    PyTypeObject *Tensor, *Cell, *Storage, *Output;
    PyObject *mode, *RECORD, *NO_GRAD; /* the context variable, and its two usual values */
    PyObject *getattr;                 /* of `builtins` */
    PyObject *quiet;                   /* a context without floating-point warnings; in NumPy 1 an object with `run` */
    PyObject *outside, *internal, *user_frame, *asking; /* of `_core.sites` */
    PyObject *count;                   /* the numbers of nodes */
    PyObject *turn_acquire, *turn_release, *cell_of, *storage_of, *mark, *share, *keep_array, *protect;
    PyObject *aliased;                 /* a dict: empty, unless arrays of tensors are known to NumPy code */
    PyObject *getitem, *overwrite, *unbind, *split, *reshape, *permute_dims, *expand_dims; /* primitives */
    PyObject *ViewNode, *PermuteNode, *TransposeNode, *TNode, *UnsqueezeNode;  /* classes of nodes */
    PyObject *kind_of;                 /* the class of nodes of a primitive with some metadata */
    PyObject *kinds;                   /* those that were asked for, by keys: of an index the types of its entries */
    PyObject *index;                   /* the operation of the primitive `index` */
    PyObject *marker, *whole;          /* what stands for an array in the metadata of an index; the slice of everything */
    PyObject *spec_name, *axis_name, *join_names, *reduction_names; /* names of metadata, in tuples */
    PyObject *ones, *add_reduce;       /* so many ones, for sums by products; `np.add.reduce` */
    PyObject *small_size, *block_size; /* the elements of a matrix, and of an axis, up to which sums are products: ints */
    PyObject *rules, *traced;          /* the rules that were read, by classes of nodes, and what reads them */
    PyObject *raw, *sum_to, *by_age, *Parts, *filled; /* of a pass */
    PyArray_Descr *single, *twice;     /* the dtypes float32 and float64 */
    Slots slots;
} Core;

extern Core core;

/* Names of attributes, made once. */
typedef struct {
    PyObject *index, *axis, *axes, *label, *shape, *shapes, *sizes, *dim, *keepdim, *path, *leaf, *forward, *hold, *forget, *run, *pull, *foreign;
    PyObject *TransposeLabel, *TLabel, *SplitLabel;
} Names;

extern Names names;

/* One operand of an operation. The tensor is the caller's; the array and the edge are owned, since code that runs meanwhile may
   replace those of the tensor. */
typedef struct {
    PyObject *tensor; /* NULL for a number */
    PyObject *array;
    PyObject *edge; /* NULL without a history */
} Operand;

/* table.c: what Python has told */
int table_read(PyObject *told);
PyObject *slot_get(PyObject *object, Py_ssize_t offset);
void slot_set(PyObject *object, Py_ssize_t offset, PyObject *value);

/* compute.c */
PyObject *quietly(PyObject *function, PyObject *const *args, size_t count, PyObject *keywords);
PyObject *quiet_array(PyObject *function, PyObject *const *args, size_t count, PyObject *keywords);
PyObject *tuple_of(const npy_intp *ints, Py_ssize_t count);
PyObject *shape_of(PyObject *array);
int axis_of(PyObject *dim, int ndim);
PyObject *array_of_number(PyObject *number, PyArray_Descr *dtype);
PyObject *current_mode(void);

/* cells.c */
PyObject *cell_new(PyObject *array);
PyObject *cell_of_tensor(PyObject *tensor);
int storage_join(PyObject *storage, PyObject *tensor);

/* nodes.c */
PyObject *kind_known(PyObject *key, PyObject *primitive, PyObject *params);
PyObject *node_new(PyObject *kind, PyObject *edges, PyObject *params, PyObject *array);
PyObject *output_new(PyObject *node, PyObject *edges, Py_ssize_t index, PyObject *array);
PyObject *tensor_new(PyObject *array, PyObject *node);
int is_none_attribute(PyObject *object, PyObject *name);

/* operation.c, walk.c */
extern PyTypeObject *operation_type;
int operation_ready(void);
PyObject *native_order(PyObject *module, PyObject *roots);
PyObject *native_survey(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_walk(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif
