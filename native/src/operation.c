/* The type of operations: callables that bind like functions, and hand over to the Python function that they hold. */

#include "operation.h"

PyTypeObject *operation_type;

static PyObject *operation_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Operation *operation = (Operation *)self;
    PyObject *result = operation->attempt(operation, args, PyVectorcall_NARGS(flags), keywords);
    if (result != NULL || PyErr_Occurred())
        return result;
    if (operation->fallback == Py_None) /* the caller is Python, and goes on by itself */
        Py_RETURN_NONE;
    return PyObject_Vectorcall(operation->fallback, args, flags, keywords);
}

/* Binds it to an instance, as a function. */
static PyObject *operation_get(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(owner))
{
    return instance == NULL || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

/* Reads what is saved: a tuple of triples of a place, the bits of its users, and whether all that follow are meant. */
static int savings_read(Operation *self, PyObject *told)
{
    Py_ssize_t count = PyTuple_GET_SIZE(told);
    if (count > SAVED) {
        PyErr_SetString(PyExc_ValueError, "an operation saves too many values");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Saving *saving = &self->saved[i];
        unsigned long long users;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(told, i), "iKp", &saving->place, &users, &saving->starred))
            return -1;
        saving->users = users;
    }
    self->savings = (int)count;
    return 0;
}

/* Reads a form: what does the usual case, and which of two it is. */
static int form_read(Operation *self, const char *name)
{
    const struct {
        const char *name;
        Attempt attempt;
        int variant;
    } all[] = {
        {"recorded", recorded, 0}, {"beside zero", recorded, BESIDE_ZERO}, {"getitem", indexed, 0}, {"setitem", assigned, 0},
        {"any view", viewed, 0}, {"reshape", reshaped, 0}, {"unsqueeze", reshaped, 1}, {"transpose", transposed, EXCHANGED},
        {"T", transposed, 0}, {"t", transposed, NAMED}, {"unbind", unbound, 0}, {"iter", unbound, 1}, {"split", divided, 0}, {"chunk", divided, 1},
        {"cat", joined, 0}, {"stack", joined, 1}, {"sum", reduced, 0}, {"mean", reduced, 1}, {"linear", projected, 0},
        {"matmul", product, 0}, {"dot", product, 1}, {"mm", product, 2}, {"in place", replaced, 0}, {"cross entropy", lost, 0},
        {"take", selected, 0}, {"index_select", selected, 1}, {"gather", gathered, 0},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(all[i].name, name) == 0) {
            self->attempt = self->usual = all[i].attempt;
            self->variant = all[i].variant;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "there is no native form called %s", name);
    return -1;
}

static PyObject *operation_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *known[] = {"fallback", "forward", "kind", "operands", "ndim", "typed", "numbers", "fresh", "large", "saved", "form", NULL};
    PyObject *fallback, *forward, *kind, *saved;
    const char *form;
    Operation *self = (Operation *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOiipppnO!s", known, &fallback, &forward, &kind, &self->operands, &self->ndim,
                                     &self->typed, &self->numbers, &self->fresh, &self->large, &PyTuple_Type, &saved, &form))
        goto failed;
    self->vectorcall = operation_call;
    self->fallback = Py_NewRef(fallback);
    self->forward = Py_NewRef(forward);
    self->kind = kind == Py_None ? NULL : Py_NewRef(kind);
    if (savings_read(self, saved) == 0 && form_read(self, form) == 0)
        return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

static int operation_traverse(PyObject *object, visitproc visit, void *arg)
{
    Operation *self = (Operation *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dict);
    Py_VISIT(self->fallback);
    Py_VISIT(self->forward);
    Py_VISIT(self->kind);
    Py_VISIT(self->code);
    return 0;
}

/* Only the dict can be part of a cycle that nothing else breaks: so the operation can be called to its end. */
static int operation_clear(PyObject *object)
{
    Py_CLEAR(((Operation *)object)->dict);
    return 0;
}

static void operation_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (((Operation *)object)->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    operation_clear(object);
    release(((Operation *)object)->fallback, ((Operation *)object)->forward, ((Operation *)object)->kind);
    Py_XDECREF(((Operation *)object)->code);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *operation_repr(PyObject *self)
{
    return PyObject_Repr(((Operation *)self)->fallback);
}

/* An attribute of its own, or else one of the Python function. */
static PyObject *operation_attribute(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError) || ((Operation *)self)->fallback == Py_None)
        return found;
    PyErr_Clear();
    return PyObject_GetAttr(((Operation *)self)->fallback, name);
}

static PyObject *handed_over(Operation *Py_UNUSED(operation), PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(count),
                             PyObject *Py_UNUSED(keywords))
{
    return NULL;
}

/* Sets an attribute. Code is that of the Python function: while it is not its own, as where something else answers calls of functions,
   all is handed over. */
static int operation_set(PyObject *self, PyObject *name, PyObject *value)
{
    Operation *operation = (Operation *)self;
    if (PyUnicode_Compare(name, names.__code__) != 0)
        return PyObject_GenericSetAttr(self, name, value);
    if (operation->code == NULL && (operation->code = PyObject_GetAttr(operation->fallback, name)) == NULL)
        return -1;
    if (PyObject_SetAttr(operation->fallback, name, value) < 0)
        return -1;
    operation->attempt = value == operation->code ? operation->usual : handed_over;
    return 0;
}

/* What it stands for is a function, also to `isinstance`. */
static PyObject *operation_class(PyObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(Py_TYPE(((Operation *)self)->fallback));
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Operation, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Operation, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Operation, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"__class__", operation_class, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, operation_new},         {Py_tp_dealloc, operation_dealloc}, {Py_tp_traverse, operation_traverse},
    {Py_tp_clear, operation_clear},     {Py_tp_call, PyVectorcall_Call},    {Py_tp_descr_get, operation_get},
    {Py_tp_getattro, operation_attribute}, {Py_tp_setattro, operation_set}, {Py_tp_repr, operation_repr},
    {Py_tp_members, members},           {Py_tp_getset, attributes},         {0, NULL},
};

static PyType_Spec spec = {
    .name = "_pullback_native.Operation",
    .basicsize = sizeof(Operation),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = slots,
};

int operation_ready(void)
{
    operation_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return operation_type == NULL ? -1 : 0;
}
