/* The bases of tensors and of nodes: attributes of Python's `_Defaults`, in `_tensor/attributes.py`, that are read at each view; and those
   of `Node`, in `_tape/node.py`, which the collector looks at most. */

#include "base.h"

PyTypeObject *base_type, *links_type;

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

static int fields_clear(PyObject **field, PyObject **last)
{
    for (; field <= last; field++)
        Py_CLEAR(*field);
    return 0;
}

static int base_clear(PyObject *object)
{
    return fields_clear(&((Base *)object)->storage, &((Base *)object)->writes);
}

static int links_clear(PyObject *object)
{
    return fields_clear(&((Links *)object)->edges, &((Links *)object)->offset);
}

/* What else holds a shape, a number or code is no node, and these hold no objects that lead back: they are not visited. A tuple of
   edges that the collector does not know, as `edges_get` has not been asked, is this node's alone: what it holds is visited for it. */
static int links_traverse(PyObject *object, visitproc visit, void *arg)
{
    const Links *node = (Links *)object;
    if (node->edges != NULL && !PyObject_GC_IsTracked(node->edges))
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->edges); i++)
            Py_VISIT(PyTuple_GET_ITEM(node->edges, i));
    else
        Py_VISIT(node->edges);
    Py_VISIT(node->saved);
    Py_VISIT(node->params);
    Py_VISIT(node->hooks);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

/* The edges, which the collector knows from then on: others may hold the tuple. */
static PyObject *edges_get(PyObject *object, void *Py_UNUSED(closure))
{
    PyObject *edges = edges_of(object);
    if (edges == NULL)
        return PyErr_Format(PyExc_AttributeError, "edges");
    if (PyTuple_GET_SIZE(edges) > 0 && !PyObject_GC_IsTracked(edges))
        PyObject_GC_Track(edges);
    return Py_NewRef(edges);
}

static int edges_set(PyObject *object, PyObject *value, void *Py_UNUSED(closure))
{
    if (value != NULL && !PyTuple_CheckExact(value)) {
        PyErr_SetString(PyExc_TypeError, "the edges of a node are a tuple");
        return -1;
    }
    Py_XSETREF(((Links *)object)->edges, Py_XNewRef(value));
    return 0;
}

static void fields_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (PyType_IsSubtype(type, links_type))
        links_clear(object);
    else
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
    {Py_tp_dealloc, fields_dealloc}, {Py_tp_traverse, base_traverse}, {Py_tp_clear, base_clear},
    {Py_tp_getset, fields},        {0, NULL},
};

static PyType_Spec spec = {
    .name = "_pullback_native.Base",
    .basicsize = sizeof(Base),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

#define MEMBER(name) {#name, T_OBJECT_EX, offsetof(Links, name), 0, NULL}

static PyMemberDef members[] = {
    MEMBER(saved), MEMBER(params), MEMBER(hooks), MEMBER(shape), MEMBER(seq), MEMBER(code), MEMBER(offset), {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef edges[] = {
    {"edges", edges_get, edges_set, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot links_slots[] = {
    {Py_tp_dealloc, fields_dealloc}, {Py_tp_traverse, links_traverse}, {Py_tp_clear, links_clear},
    {Py_tp_members, members},        {Py_tp_getset, edges},            {0, NULL},
};

static PyType_Spec links_spec = {
    .name = "_pullback_native.Links",
    .basicsize = sizeof(Links),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = links_slots,
};

int base_ready(void)
{
    base_type = (PyTypeObject *)PyType_FromSpec(&spec);
    links_type = (PyTypeObject *)PyType_FromSpec(&links_spec);
    return base_type == NULL || links_type == NULL ? -1 : 0;
}
