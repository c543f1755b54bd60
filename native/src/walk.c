/* The plain pass: no hooks, no recording, arrays alone.

   Beside: `youngest_first`, `surveyed` and `Pass.walk` in `_tape/walk.py`. The caller is in the quiet context. */

#include "core.h"

/* What a walk is given, all borrowed. `needed` and `freed` may be None. */
typedef struct {
    PyObject *pending, *wanted, *needed, *freed, *leaves, *found;
} Walk;

/* `youngest_first(roots)`: every node reachable from the roots, the latest made first. */
PyObject *native_order(PyObject *Py_UNUSED(module), PyObject *roots)
{
    PyObject *seen = PySet_New(roots);
    PyObject *order = seen == NULL ? NULL : PySequence_List(seen);
    int failed = order == NULL || PySet_Add(seen, Py_None) < 0;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(order); i++) { /* which grows meanwhile */
        PyObject *edges = Py_XNewRef(slot_get(PyList_GET_ITEM(order, i), core.slots.edges));
        if (edges == NULL || !PyTuple_CheckExact(edges)) {
            PyErr_SetString(PyExc_TypeError, "the edges of a node are a tuple");
            failed = 1;
        }
        for (Py_ssize_t k = 0; !failed && k < PyTuple_GET_SIZE(edges); k++) {
            PyObject *edge = PyTuple_GET_ITEM(edges, k);
            int known = PySet_Contains(seen, edge);
            failed = known < 0 || (!known && (PySet_Add(seen, edge) < 0 || PyList_Append(order, edge) < 0));
        }
        Py_XDECREF(edges);
    }
    Py_XDECREF(seen);
    PyObject *sorted = failed ? NULL : PyObject_CallOneArg(core.by_age, order);
    Py_XDECREF(order);
    return sorted;
}

/* `surveyed(order, wanted)`: whether code of users runs, as hooks, whether values are missing, and whether all leaves are wanted. */
PyObject *native_survey(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    int users = 0, missing = 0, all = 1;
    for (Py_ssize_t i = 0; count == 2 && i < PyList_GET_SIZE(args[0]); i++) {
        PyObject *node = Py_NewRef(PyList_GET_ITEM(args[0], i));
        int plain = slot_get(node, core.slots.hooks) == Py_None ? is_none_attribute(node, names.foreign) : 0;
        int asked = PyTuple_GET_SIZE(slot_get(node, core.slots.edges)) == 0 ? PySet_Contains(args[1], node) : 1;
        missing |= !PyTuple_CheckExact(slot_get(node, core.slots.saved));
        users |= plain == 0;
        all &= asked;
        Py_DECREF(node);
        if (plain < 0 || asked < 0)
            return NULL;
    }
    return Py_BuildValue("OOO", users ? Py_True : Py_False, missing ? Py_True : Py_False, all ? Py_True : Py_False);
}

/* A cotangent with the shape of its edge: summed along axes that were broadcast. Steals the cotangent. */
static PyObject *fitted(PyObject *g, PyObject *edge)
{
    PyObject *shape = Py_XNewRef(slot_get(edge, core.slots.shape)), *own = NULL, *summed = NULL;
    int fits = shape == Py_None;
    if (!fits && (own = PyArray_CheckExact(g) ? shape_of(g) : PyObject_GetAttr(g, names.shape)) != NULL)
        fits = PyObject_RichCompareBool(own, shape, Py_EQ);
    if (fits > 0)
        summed = Py_NewRef(g);
    else if (fits == 0 && own != NULL)
        summed = PyObject_CallFunctionObjArgs(core.sum_to, core.raw, g, shape, NULL);
    Py_XDECREF(own);
    Py_DECREF(g);
    Py_DECREF(shape);
    return summed;
}

/* Adds a cotangent to what a dict has under a key. Steals the cotangent. */
static int add_to(PyObject *dict, PyObject *key, PyObject *g)
{
    PyObject *before = PyDict_GetItemWithError(dict, key); /* borrowed */
    if (before != NULL) {
        Py_INCREF(before);
        PyObject *sum = PyNumber_Add(before, g);
        Py_DECREF(before);
        Py_DECREF(g);
        g = sum;
    }
    int failed = g == NULL || PyErr_Occurred() || PyDict_SetItem(dict, key, g) < 0;
    Py_XDECREF(g);
    return failed ? -1 : 0;
}

/* Adds a cotangent to what waits for a node. Steals the cotangent. */
static int send(const Walk *walk, PyObject *edge, PyObject *g)
{
    g = fitted(g, edge);
    return g == NULL ? -1 : add_to(walk->pending, edge, g);
}

/* What waits for a node with several outputs: a Parts, which has the cotangents that have arrived by the number of the output.
   It is the walk's own, so another one is put into it. Steals the cotangent. */
static int send_part(const Walk *walk, PyObject *node, PyObject *index, PyObject *g)
{
    PyObject *parts = PyDict_GetItemWithError(walk->pending, node); /* borrowed: the walk's dict holds it */
    if (parts != NULL && is_a(parts, core.Parts))
        return add_to(parts, index, g);
    PyObject *made = PyErr_Occurred() ? NULL : PyObject_CallNoArgs(core.Parts);
    int failed = made == NULL || PyDict_SetItem(made, index, g) < 0;
    Py_DECREF(g);
    if (failed) {
        Py_XDECREF(made);
        return -1;
    }
    return send(walk, node, made);
}

/* The cotangents of the inputs, by Python's function, sent along the edges. */
static int pull_by_python(const Walk *walk, PyObject *node, PyObject *g, PyObject *edges, PyObject *saved)
{
    PyObject *pull = PyObject_GetAttr(node, names.pull);
    PyObject *params = Py_XNewRef(slot_get(node, core.slots.params));
    PyObject *args[] = {core.raw, g, edges, saved, params};
    PyObject *given = pull == NULL ? NULL : PyObject_Vectorcall(pull, args, 5, NULL);
    release(pull, params, NULL);
    PyObject *results = given == NULL ? NULL : PySequence_Tuple(given);
    Py_XDECREF(given);
    if (results == NULL)
        return -1;
    int failed = 0;
    Py_ssize_t count = Py_MIN(PyTuple_GET_SIZE(results), PyTuple_GET_SIZE(edges));
    for (Py_ssize_t i = 0; !failed && i < count; i++) {
        PyObject *edge = PyTuple_GET_ITEM(edges, i), *result = PyTuple_GET_ITEM(results, i);
        if (edge != Py_None && result != Py_None)
            failed = send(walk, edge, Py_NewRef(result)) < 0;
    }
    Py_DECREF(results);
    return failed ? -1 : 0;
}

/* The same by rules that were read, where they fit. */
static Outcome pull_by_rules(const Walk *walk, PyObject *node, PyObject *g, PyObject *edges, PyObject *saved)
{
    PyObject *rules = rules_of((PyObject *)Py_TYPE(node)), *results[MOST_ARGUMENTS] = {NULL};
    if (rules == NULL || rules == Py_None)
        return rules == NULL ? FAILED : HAND_OVER;
    Outcome outcome = rules_apply(rules, g, edges, saved, results);
    for (int i = 0; i < MOST_ARGUMENTS; i++) {
        if (outcome == DONE && results[i] != NULL)
            outcome = send(walk, PyTuple_GET_ITEM(edges, i), results[i]) < 0 ? FAILED : DONE;
        else
            Py_XDECREF(results[i]);
    }
    return outcome;
}

/* The edges that lead to a node that is needed, None for others; None in place of all if there is none. */
static PyObject *needed_edges(const Walk *walk, PyObject *edges)
{
    PyObject *left = PyTuple_New(PyTuple_GET_SIZE(edges));
    int any = 0;
    for (Py_ssize_t i = 0; left != NULL && i < PyTuple_GET_SIZE(edges); i++) {
        PyObject *edge = PyTuple_GET_ITEM(edges, i);
        int needed = PySet_Contains(walk->needed, edge);
        if (needed < 0)
            Py_CLEAR(left);
        else
            PyTuple_SET_ITEM(left, i, Py_NewRef(needed ? edge : Py_None));
        any |= needed > 0;
    }
    if (left != NULL && !any)
        Py_SETREF(left, Py_NewRef(Py_None));
    return left;
}

/* Runs a node that is no leaf on its cotangent. */
static int run_node(const Walk *walk, PyObject *node, PyObject *g, PyObject *edges)
{
    if (is_a(node, core.Output))
        return send_part(walk, PyTuple_GET_ITEM(edges, 0), slot_get(node, core.slots.params), Py_NewRef(g));
    PyObject *saved = Py_XNewRef(slot_get(node, core.slots.saved));
    Outcome outcome = pull_by_rules(walk, node, g, edges, saved);
    if (outcome == HAND_OVER)
        outcome = pull_by_python(walk, node, g, edges, saved) < 0 ? FAILED : DONE;
    int kept = outcome == DONE ? PyObject_IsTrue(saved) : 0;
    if (kept > 0 && walk->freed != Py_None)
        slot_set(node, core.slots.saved, Py_NewRef(walk->freed));
    Py_DECREF(saved);
    return outcome == DONE && kept >= 0 ? 0 : -1;
}

/* The cotangent of a node as its rules take it: of several outputs a list. Steals it. */
static PyObject *filled(PyObject *node, PyObject *g)
{
    if (slot_get(node, core.slots.shape) != Py_None || !is_a(g, core.Parts))
        return g;
    PyObject *list = PyObject_CallFunctionObjArgs(core.filled, g, slot_get(node, core.slots.params), NULL);
    Py_DECREF(g);
    return list;
}

/* One turn of the walk: the node takes what has reached it. Steals the cotangent. */
static int visit(const Walk *walk, PyObject *node, PyObject *g)
{
    PyObject *edges = Py_XNewRef(slot_get(node, core.slots.edges));
    g = filled(node, g);
    int failed = g == NULL, wanted = failed ? 0 : PySet_Contains(walk->wanted, node);
    if (wanted < 0 || (wanted && PyDict_SetItem(walk->found, node, g) < 0))
        failed = 1;
    if (!failed && PyTuple_GET_SIZE(edges) == 0) {
        PyObject *pair = PyTuple_Pack(2, node, g);
        failed = pair == NULL || PyList_Append(walk->leaves, pair) < 0;
        Py_XDECREF(pair);
    } else if (!failed) {
        if (walk->needed != Py_None)
            Py_SETREF(edges, needed_edges(walk, edges));
        failed = edges == NULL || (edges != Py_None && run_node(walk, node, g, edges) < 0);
    }
    release(edges, g, NULL);
    return failed ? -1 : 0;
}

/* `walk(order, pending, wanted, needed, freed, leaves, found)`: runs the nodes in order. */
PyObject *native_walk(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 7 || !PyList_CheckExact(args[0]) || !PyDict_CheckExact(args[1]) || !PyAnySet_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "walk takes a list of nodes, a dict, a set, and what else a pass has");
        return NULL;
    }
    Walk walk = {args[1], args[2], args[3], args[4], args[5], args[6]};
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[0]); i++) {
        PyObject *node = PyList_GET_ITEM(args[0], i), *g = PyDict_GetItemWithError(walk.pending, node); /* borrowed */
        if (g == NULL && !PyErr_Occurred())
            continue;
        Py_INCREF(node);
        Py_XINCREF(g); /* a handler of signals may run first */
        int failed = g == NULL || PyErr_CheckSignals() < 0 || PyDict_DelItem(walk.pending, node) < 0;
        if (failed)
            Py_XDECREF(g);
        else
            failed = visit(&walk, node, g) < 0;
        Py_DECREF(node);
        if (failed)
            return NULL;
    }
    Py_RETURN_NONE;
}
