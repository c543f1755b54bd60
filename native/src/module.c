/* The module: what Python finds in it, and where it refuses to be imported. */

#define PULLBACK_IMPORTS_NUMPY
#include "core.h"

Names names;

static int names_make(void)
{
#define MAKE(name) (names.name = PyUnicode_InternFromString(#name)) == NULL ||
    return NAMES(MAKE) 0 ? -1 : 0;
}

static PyObject *setup(PyObject *Py_UNUSED(module), PyObject *told)
{
    return table_read(told) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"setup", setup, METH_O, "Tell the core once of the classes and functions of pullback."},
    {"added", added, METH_O, "The sum of an array of float32 or float64 numbers in order, by the loop of `add`."},
    {"looped", (PyCFunction)(void (*)(void))native_looped, METH_FASTCALL, "What the loop of a ufunc gives for arrays in order, or None."},
    {"youngest_first", native_order, METH_O, "Every node reachable from the roots, the latest made first."},
    {"surveyed", (PyCFunction)(void (*)(void))native_survey, METH_FASTCALL, "What a pass has to know of its nodes."},
    {"walk", (PyCFunction)(void (*)(void))native_walk, METH_FASTCALL, "Run the nodes of a plain pass in order."},
    {NULL, NULL, 0, NULL},
};

/* Raises ImportError where the core has not been tested: then pullback goes on in Python. */
static int refuse(void)
{
#ifdef Py_GIL_DISABLED
    PyErr_SetString(PyExc_ImportError, "pullback-native has not been tested in Pythons without the interpreter's lock");
    return -1;
#else
    int main = PyInterpreterState_Get() == PyInterpreterState_Main();
    if (main && core.Tensor == NULL)
        return 0;
    PyErr_SetString(PyExc_ImportError, main ? "pullback-native serves the pullback that this process imported first"
                                            : "pullback-native runs in the main interpreter alone");
    return -1;
#endif
}

static int module_fill(PyObject *module)
{
    if (refuse() < 0 || PyArray_ImportNumPyAPI() < 0 || names_make() < 0 || base_ready() < 0 || operation_ready() < 0)
        return -1;
    core.single = PyArray_DescrFromType(NPY_FLOAT);
    core.twice = PyArray_DescrFromType(NPY_DOUBLE);
    if (core.single == NULL || core.twice == NULL)
        return -1;
    if (PyModule_AddObjectRef(module, "Base", (PyObject *)base_type) < 0 ||
        PyModule_AddObjectRef(module, "Operation", (PyObject *)operation_type) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "__version__", PULLBACK_VERSION);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, module_fill},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_pullback_native",
    .m_doc = "The hottest paths of pullback's tape; docs/contribute/native.md leads through it.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__pullback_native(void)
{
    return PyModuleDef_Init(&definition);
}
