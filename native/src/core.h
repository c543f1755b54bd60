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
typedef enum { UNKNOWN = -1, OTHER, RECORDS, NO_RECORDS } Usage; /* of the current mode: an exception, none of the usual ones, ... */

/* Where slots of Python classes lie inside of their instances, in bytes: each class, its slot, and what it is called here. */
#define SLOTS(X) \
    X(Tensor, _array, tensor_array) X(Tensor, _node, tensor_node) X(Tensor, _cell, tensor_cell) X(Cell, array, cell_array) \
    X(Storage, members, storage_members) X(Storage, cells, storage_cells) X(Storage, _limit, storage_limit) \
    X(Storage, version, storage_version) X(Node, edges, edges) X(Node, saved, saved) X(Node, params, params) X(Node, shape, shape) \
    X(Node, seq, seq) X(Node, code, code) X(Node, offset, offset) X(Node, hooks, hooks)

/* What Python tells once, by `setup`: classes, functions, and the values that are compared by identity. All are owned. */
#define TOLD(X) \
    X(Tensor) X(Cell) X(Storage) X(Output) X(Parts) \
    X(mode) X(RECORD) X(NO_GRAD)      /* the context variable, and its two usual values */ \
    X(quiet)                          /* a context without floating-point warnings; in NumPy 1 an object with `run` */ \
    X(outside) X(internal) X(user_frame) X(asking) /* of `_core.sites` */ \
    X(count)                          /* the numbers of nodes */ \
    X(turn_acquire) X(turn_release) X(cell_of) X(storage_of) X(mark) X(share) X(keep_array) X(protect) \
    X(aliased)                        /* a dict: empty, unless arrays of tensors are known to NumPy code */ \
    X(getitem) X(overwrite) X(unbind) X(split) X(reshape) X(permute_dims) X(expand_dims) X(replay) /* primitives */ \
    X(ViewNode) X(PermuteNode) X(TransposeNode) X(TNode) X(UnsqueezeNode) /* classes of nodes */ \
    X(kind_of)                        /* the class of nodes of a primitive with some metadata */ \
    X(kinds)                          /* those that were asked for, by keys: of an index the types of its entries */ \
    X(index) X(index_put)             /* the operations of these primitives */ \
    X(marker) X(whole) X(flat_shape) X(dots) /* what stands for an array in the metadata of an index; the slice of everything; (-1,); (...,) */ \
    X(spec_name) X(pick_names) X(axis_name) X(label_name) X(join_names) X(reduction_names) X(loss_names) /* names of metadata, in tuples */ \
    X(make_ones) X(zero) X(add) X(add_reduce) X(exp) X(log) /* `ones` of `_core/xp.py`; 0; ufuncs, and a reduction */ \
    X(adds) X(loops)                  /* a list: empty, unless the loop of `add` gives what its reduction does; ufuncs with such loops */ \
    X(loss_size)                      /* the elements of scores below which their losses are computed here: an int */ \
    X(small_size) X(block_size)       /* the elements of a matrix, and of an axis, up to which sums are products: ints */ \
    X(product_size) X(product_work)   /* the elements and multiplications below which a product is NumPy's: ints */ \
    X(rules) X(traced)                /* the rules that were read, by classes of nodes, and what reads them */ \
    X(raw) X(sum_to) X(by_age) X(filled) /* of a pass */

/* Names of attributes and of metadata, made once. */
#define NAMES(X) \
    X(index) X(axis) X(axes) X(label) X(shape) X(shapes) X(sizes) X(dim) X(keepdim) X(path) X(_leaf) X(forward) X(hold) X(_forget) \
    X(run) X(pull) X(foreign) X(TransposeBackward0) X(TBackward0) X(SplitBackward0) X(MvBackward0) X(DotBackward0) X(mean) \
    X(IndexSelectBackward0) X(TakeBackward0) X(__code__)

#define OFFSET(class_name, name, place) Py_ssize_t place;
#define OBJECT(name) PyObject *name;

typedef struct {
    TOLD(OBJECT)
    PyArray_Descr *single, *twice; /* the dtypes float32 and float64 */
    struct {
        SLOTS(OFFSET)
    } slots;
} Core;

typedef struct {
    NAMES(OBJECT)
} Names;

/* The attributes of a tensor that only few set themselves, as fields. NULL stands for the default: `()` for the path, False for
   `inference`, 0 for `writes`, None for all others. Owns its fields, which follow each other from the first to the last. */
typedef struct {
    PyObject_HEAD
    PyObject *storage, *base, *path, *made_untracked, *inference, *cut, *writes;
} Base;

extern Core core;
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
PyObject *dot(PyObject *a, PyObject *b);
PyObject *tuple_of(const npy_intp *ints, Py_ssize_t count);
PyObject *shape_of(PyObject *array);
PyObject *array_new(PyArray_Descr *dtype, int ndim, const npy_intp *shape);
int axis_of(PyObject *dim, int ndim);
PyObject *array_of_number(PyObject *number, PyArray_Descr *dtype);
Usage usage_now(void);
PyObject *plain_array(PyObject *given);

static inline int is_a(PyObject *object, PyObject *class)
{
    return Py_IS_TYPE(object, (PyTypeObject *)class);
}

static inline PyObject *instance_of(PyObject *class)
{
    return ((PyTypeObject *)class)->tp_alloc((PyTypeObject *)class, 0);
}

/* Lets go of objects, each of which may be NULL. */
static inline void release(PyObject *one, PyObject *two, PyObject *three)
{
    Py_XDECREF(one);
    Py_XDECREF(two);
    Py_XDECREF(three);
}

/* cells.c */
PyObject *cell_new(PyObject *array);
PyObject *cell_of_tensor(PyObject *tensor);
int storage_join(PyObject *storage, PyObject *tensor);

/* nodes.c */
PyObject *kind_known(PyObject *key, PyObject *primitive, PyObject *params);
PyObject *node_new(PyObject *kind, PyObject *edges, PyObject *params, PyObject *array);
PyObject *output_new(PyObject *node, PyObject *edges, Py_ssize_t index, PyObject *shape);
PyObject *tensor_new(PyObject *array, PyObject *node);
int is_none_attribute(PyObject *object, PyObject *name);

/* rules.c */
#define MOST_ARGUMENTS 3 /* of a step, and operands of what has rules that are read */
PyObject *rules_of(PyObject *node_class);
Outcome rules_apply(PyObject *rules, PyObject *g, PyObject *edges, PyObject *saved, PyObject **results);

/* loops.c */
PyObject *looped(PyObject *function, PyObject *const *operands, int count);
PyObject *native_looped(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *added(PyObject *module, PyObject *array);

/* base.c, operation.c, walk.c */
extern PyTypeObject *base_type, *operation_type;
int base_ready(void);
int operation_ready(void);
int is_set(PyObject *value);
PyObject *native_order(PyObject *module, PyObject *roots);
PyObject *native_survey(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_walk(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif
