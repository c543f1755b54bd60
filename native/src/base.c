/* The base of tensors: attributes of Python's `_Defaults`, in `_tensor/attributes.py`, that are read at each view. */

#include "core.h"

PyTypeObject *base_type;

/* Whether a field has another value than its default. */
int is_set(PyObject *value)
{
    return value != NULL && value != Py_None && value != Py_False;
}

static PyObject **field_of(PyObject *self, void *closure)
{
    return (PyObject **)((char *)self + (Py_ssize_t)(intptr_t)closure);
}

static PyObject *field_get(PyObject *self, void *closure)
{
    PyObject *value = *field_of(self, closure);
    if (value != NULL)
        return Py_NewRef(value);
    switch ((Py_ssize_t)(intptr_t)closure) {
    case offsetof(Base, path):
        return PyTuple_New(0);
    case offsetof(Base, inference):
        Py_RETURN_FALSE;
    case offsetof(Base, writes):
        return PyLong_FromLong(0);
    default:
        Py_RETURN_NONE;
    }
}

/* Sets a field, or, for NULL, gives it its default again. */
static int field_set(PyObject *self, PyObject *value, void *closure)
{
    PyObject **field = field_of(self, closure), *old = *field;
    *field = Py_XNewRef(value);
    Py_XDECREF(old);
    return 0;
}

static int base_traverse(PyObject *object, visitproc visit, void *arg)
{
    for (PyObject **field = &((Base *)object)->storage; field <= &((Base *)object)->writes; field++)
        Py_VISIT(*field);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static int base_clear(PyObject *object)
{
    for (PyObject **field = &((Base *)object)->storage; field <= &((Base *)object)->writes; field++)
        Py_CLEAR(*field);
    return 0;
}

static void base_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    base_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

#define FIELD(name) {"_" #name, field_get, field_set, NULL, (void *)(intptr_t)offsetof(Base, name)}

static PyGetSetDef fields[] = {
    FIELD(storage), FIELD(base), FIELD(path), FIELD(made_untracked), FIELD(inference), FIELD(cut), FIELD(writes),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, base_dealloc}, {Py_tp_traverse, base_traverse}, {Py_tp_clear, base_clear},
    {Py_tp_getset, fields},        {0, NULL},
};

static PyType_Spec spec = {
    .name = "_pullback_native.Base",
    .basicsize = sizeof(Base),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

int base_ready(void)
{
    base_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return base_type == NULL ? -1 : 0;
}
