/* Rules of derivatives, which are not written again here: `_tape/native.py` calls each of them once with symbols, and tells what
   it has done with these. */

#include "rules.h"

static const char NAME[] = "pullback.rules";

static void rules_free(Rules *rules)
{
    for (int i = 0; i < rules->operands; i++) {
        Rule *rule = rules->rule[i];
        if (rule == NULL)
            continue;
        for (int k = 0; k < rule->steps; k++)
            Py_XDECREF(rule->step[k].function);
        for (int k = 0; k < rule->constants; k++)
            Py_XDECREF(rule->constant[k]);
        PyMem_Free(rule);
    }
    PyMem_Free(rules);
}

static void capsule_free(PyObject *capsule)
{
    rules_free(PyCapsule_GetPointer(capsule, NAME));
}

/* Reads one step: a function and the places of its arguments, of which `known` have values by then. */
static int step_read(Step *step, PyObject *told, int known)
{
    PyObject *function, *places;
    if (!PyArg_ParseTuple(told, "OO!", &function, &PyTuple_Type, &places))
        return -1;
    step->function = Py_NewRef(function);
    step->count = (int)PyTuple_GET_SIZE(places);
    if (step->count > MOST_ARGUMENTS)
        goto wrong;
    for (int i = 0; i < step->count; i++) {
        long place = PyLong_AsLong(PyTuple_GET_ITEM(places, i));
        if (place < 0 || place >= known)
            goto wrong;
        step->arguments[i] = (int)place;
    }
    return 0;
wrong:
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "a step of a rule has up to three arguments, which have values");
    return -1;
}

/* Reads the rule of one operand: a tuple of constants, and one of steps. */
static int rule_read(Rules *rules, int operand, PyObject *told)
{
    if (told == Py_None)
        return 0;
    PyObject *constants, *steps;
    if (!PyArg_ParseTuple(told, "O!O!", &PyTuple_Type, &constants, &PyTuple_Type, &steps))
        return -1;
    Py_ssize_t many = PyTuple_GET_SIZE(steps), known = 1 + rules->saved + PyTuple_GET_SIZE(constants);
    if (many > MOST_STEPS || known + many > MOST_VALUES) {
        PyErr_SetString(PyExc_ValueError, "a rule has too many steps");
        return -1;
    }
    Rule *rule = rules->rule[operand] = PyMem_Calloc(1, sizeof(Rule));
    if (rule == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; rule->constants < PyTuple_GET_SIZE(constants); rule->constants++)
        rule->constant[rule->constants] = Py_NewRef(PyTuple_GET_ITEM(constants, rule->constants));
    for (int i = 0; i < many; i++) {
        rule->steps = i + 1;
        if (step_read(&rule->step[i], PyTuple_GET_ITEM(steps, i), (int)known + i) < 0)
            return -1;
    }
    return 0;
}

/* Rules in a capsule, from a tuple: the number of saved values, the size that is large, and the rule of each operand. */
static PyObject *rules_read(PyObject *told)
{
    int saved;
    Py_ssize_t large;
    PyObject *each;
    if (!PyArg_ParseTuple(told, "inO!", &saved, &large, &PyTuple_Type, &each))
        return NULL;
    Rules *rules = PyMem_Calloc(1, sizeof(Rules));
    if (rules == NULL)
        return PyErr_NoMemory();
    rules->saved = saved;
    rules->large = large;
    if (PyTuple_GET_SIZE(each) > MOST_ARGUMENTS || saved > MOST_ARGUMENTS) {
        PyErr_SetString(PyExc_ValueError, "rules are those of up to three operands");
        rules_free(rules);
        return NULL;
    }
    rules->operands = (int)PyTuple_GET_SIZE(each);
    PyObject *capsule = NULL;
    int read = 0;
    while (read < rules->operands && rule_read(rules, read, PyTuple_GET_ITEM(each, read)) == 0)
        read++;
    if (read == rules->operands)
        capsule = PyCapsule_New(rules, NAME, capsule_free);
    if (capsule == NULL)
        rules_free(rules);
    return capsule;
}

/* The rules of a class of nodes; NULL without an exception where Python applies them. They live as long as the process. */
const Rules *rules_of(PyObject *node_class)
{
    PyObject *found = PyDict_GetItemWithError(core.rules, node_class); /* borrowed */
    if (found == NULL) {
        if (PyErr_Occurred())
            return NULL;
        PyObject *told = PyObject_CallOneArg(core.traced, node_class);
        if (told == NULL)
            return NULL;
        PyObject *made = told == Py_None ? Py_NewRef(Py_None) : rules_read(told);
        Py_DECREF(told);
        if (made == NULL)
            return NULL;
        found = PyDict_SetDefault(core.rules, node_class, made); /* another thread may have been as quick */
        Py_DECREF(made);
        if (found == NULL)
            return NULL;
    }
    return found == Py_None ? NULL : PyCapsule_GetPointer(found, NAME);
}

/* What one rule gives. `values` begins with the cotangent and what is saved, both borrowed; owns the results of its steps. */
static PyObject *rule_apply(const Rule *rule, PyObject **values, int known)
{
    PyObject *arguments[MOST_ARGUMENTS], *result = values[0];
    for (int i = 0; i < rule->constants; i++)
        values[known++] = rule->constant[i];
    int first = known;
    for (int i = 0; i < rule->steps && result != NULL; i++) {
        const Step *step = &rule->step[i];
        for (int k = 0; k < step->count; k++)
            arguments[k] = values[step->arguments[k]];
        values[known++] = result = PyObject_Vectorcall(step->function, arguments, (size_t)step->count, NULL);
    }
    Py_XINCREF(result);
    for (int i = first; i < known; i++)
        Py_XDECREF(values[i]);
    return result;
}

/* Applies the rules for the operands that have edges. The results are owned by the caller: NULL for none. */
Outcome rules_apply(const Rules *rules, PyObject *g, PyObject *edges, PyObject *saved, PyObject **results)
{
    PyObject *values[MOST_VALUES] = {g};
    if (!PyArray_CheckExact(g) || PyArray_SIZE((PyArrayObject *)g) >= rules->large)
        return HAND_OVER;
    if (PyTuple_GET_SIZE(edges) != rules->operands || !PyTuple_CheckExact(saved) || PyTuple_GET_SIZE(saved) != rules->saved)
        return HAND_OVER;
    for (int i = 0; i < rules->saved; i++) {
        PyObject *cell = PyTuple_GET_ITEM(saved, i);
        values[i + 1] = Py_None; /* which no rule of a tracked operand names */
        if (cell == Py_None)
            continue;
        if (!Py_IS_TYPE(cell, core.Cell) || !PyArray_CheckExact(slot_get(cell, core.slots.cell_array)))
            return HAND_OVER;
        values[i + 1] = slot_get(cell, core.slots.cell_array);
    }
    for (int i = 1; i <= rules->saved; i++)
        Py_INCREF(values[i]); /* a write by another thread gives a cell another array */
    Outcome outcome = DONE;
    for (int i = 0; i < rules->operands; i++) {
        results[i] = NULL;
        if (outcome != DONE || rules->rule[i] == NULL || PyTuple_GET_ITEM(edges, i) == Py_None)
            continue;
        results[i] = rule_apply(rules->rule[i], values, rules->saved + 1);
        if (results[i] == NULL)
            outcome = FAILED;
    }
    for (int i = 1; i <= rules->saved; i++)
        Py_DECREF(values[i]);
    return outcome;
}
