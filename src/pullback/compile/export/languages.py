"""Wrappers for other languages: a module of JavaScript for the file as WebAssembly, and declarations of Rust."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from .bound import Slot
from .files import WrittenFunction
from .surroundings import Exported, Row, table

JAVASCRIPT = """// @NAME@, as pullback has exported it: `make @NAME@.wasm`, then `const { @FIRST@ } = await load(bytes)`.

// Of each function its arguments, results, state and work memory: names, dtypes, shapes, and whether it writes them.
export const FUNCTIONS = {
@TABLES@
};

const KINDS = {
    bool: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array, uint8: Uint8Array,
    uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array, float32: Float32Array, float64: Float64Array,
};
const size = (shape) => Math.max(shape.reduce((one, other) => one * other, 1), 1);
const multiple = (place, unit) => Math.ceil(place / unit) * unit;

// Where arrays lie one after the other, as in a struct of C, and where they end.
function laid(rows, start) {
    const places = {};
    let end = start;
    for (const [name, dtype, shape] of rows) {
        end = multiple(end, KINDS[dtype].BYTES_PER_ELEMENT);
        places[name] = [KINDS[dtype], end, size(shape)];
        end += size(shape) * KINDS[dtype].BYTES_PER_ELEMENT;
    }
    return [places, multiple(end, 16)];
}

function views(memory, places) {
    return Object.fromEntries(
        Object.entries(places).map(([name, [Kind, place, count]]) => [name, new Kind(memory.buffer, place, count)]),
    );
}

// A function: call it with typed arrays or arrays of numbers, flat, in the order of its arguments. It returns its result, or
// an array of them: views of memory that the next call writes to. `given`, `results` and `state` are such views by name.
function prepared(exports, name, table, laidOut, starts) {
    const [given, results, state] = ["arguments", "results", "state"].map((part) => views(exports.memory, laidOut[part]));
    const pointers = [...Object.values(given), ...Object.values(results)].map((view) => view.byteOffset);
    for (const part of ["state", "work"]) if (table[part].length) pointers.push(starts[part]);
    const call = (...values) => {
        if (values.length && values.length !== table.arguments.length)
            throw new TypeError(`${name} takes ${table.arguments.length} arguments, not ${values.length}`);
        table.arguments.forEach(([argument], number) => {
            if (!values.length) return;
            const view = given[argument], value = values[number].length === undefined ? [values[number]] : values[number];
            if (value.length !== view.length)
                throw new RangeError(`${argument} has ${view.length} elements, not ${value.length}`);
            const big = view instanceof BigInt64Array || view instanceof BigUint64Array;
            view.set(big ? Array.from(value, BigInt) : value);
        });
        const code = exports[name](...pointers);
        if (code) throw new RangeError(`${name}: check ${code} failed, and the state is as it was`);
        const found = Object.values(results);
        return found.length === 1 ? found[0] : found;
    };
    const initialize = () => table.state.length && exports.@NAME@_init(starts.state);
    const seed = (number, generator = state.generator) =>
        exports.@NAME@_seed(generator.byteOffset, BigInt.asUintN(64, BigInt(number))); // as manual_seed
    initialize();
    return Object.assign(call, { given, results, state, initialize, seed });
}

// The functions of a module: of its bytes, of a response, or of a compiled module.
export async function load(source) {
    const response = typeof Response !== "undefined" && source instanceof Response;
    const bytes = response ? await source.arrayBuffer() : source;
    const module = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes);
    const { exports } = await WebAssembly.instantiate(module, {});
    const shared = Object.values(FUNCTIONS).map((table) => table.state).find((rows) => rows.length) ?? [];
    const start = multiple(exports.__heap_base.value, 16);
    let [state, end] = laid(shared, start);
    const layouts = Object.entries(FUNCTIONS).map(([name, table]) => {
        const laidOut = { state: table.state.length ? state : {} }, starts = { state: start };
        for (const part of ["arguments", "results", "work"]) {
            starts[part] = end;
            [laidOut[part], end] = laid(table[part], end);
        }
        return [name, table, laidOut, starts];
    });
    const pages = Math.ceil((end - exports.memory.buffer.byteLength) / 65536);
    if (pages > 0) exports.memory.grow(pages);
    return Object.fromEntries(layouts.map((each) => [each[0], prepared(exports, ...each)]));
}
"""


def javascript(exported: Exported) -> str:
    """A module of JavaScript that calls the file as WebAssembly."""
    tables = [
        f"    {json.dumps(each.name)}: {json.dumps(table(each, exported.options.static))},"
        for each in exported.functions
    ]
    words = {"@TABLES@": "\n".join(tables), "@FIRST@": exported.functions[0].name, "@NAME@": exported.name}
    text = JAVASCRIPT
    for word, said in words.items():
        text = text.replace(word, said)
    return text


KEYWORDS = {*"as async await become box crate dyn fn gen impl in let loop match mod move mut override priv pub ref trait "
    "type unsafe unsized use where yield abstract do final macro typeof virtual".split()}  # fmt: skip
"""Rust's words that may be names in C."""
UNESCAPED = {"self", "Self", "super", "crate"}
"""Words that Rust lets nobody use as a name."""

RUST = """//! @NAME@, as pullback has exported it: the functions of `@NAME@.h`, and each with memory of its own.
#![allow(dead_code, non_camel_case_types, non_snake_case, clippy::too_many_arguments)]

use std::os::raw::c_int;

/// Memory of zeros, which is not on the stack.
fn zeroed<T>() -> Box<T> {
    let layout = std::alloc::Layout::new::<T>();
    unsafe {
        let memory = std::alloc::alloc_zeroed(layout) as *mut T;
        if memory.is_null() {
            std::alloc::handle_alloc_error(layout)
        }
        Box::from_raw(memory)
    }
}
"""

SEEDED = """extern "C" {
    #[link_name = "@NAME@_seed"]
    fn seed_in_c(generator: *mut u64, seed: u64);
}

/// Sets a generator, a member of the state, as `manual_seed` does.
pub fn seed(generator: &mut [u64; 6], seed: u64) {
    unsafe { seed_in_c(generator.as_mut_ptr(), seed) }
}
"""


def rust(exported: Exported) -> str:
    """Declarations of Rust, a struct for each function that has memory of its own, and the state that functions share."""
    static = exported.options.static
    parts = [RUST.replace("@NAME@", exported.name)]
    rows = {each.name: table(each, static) for each in exported.functions}
    having = [each for each in rows.values() if each["state"]]
    if having:
        name = exported.name
        parts.append(_struct(f"{name}_state", having[0]["state"]))
        parts.append(f'extern "C" {{\n    fn {name}_init(state: *mut {name}_state);\n}}\n')
        parts.append(
            f"impl {name}_state {{\n    pub fn new() -> Box<{name}_state> {{\n        let mut made = zeroed();\n"
            f"        unsafe {{ {name}_init(&mut *made) }}\n        made\n    }}\n}}\n"
        )
    if exported.functions[0].unit.draws:
        parts.append(SEEDED.replace("@NAME@", exported.name))
    parts += [_rust(exported.name, each, rows[each.name], shared=len(having) > 1) for each in exported.functions]
    return "\n".join(parts)


def _struct(name: str, rows: Sequence[Row]) -> str:
    members = "".join(f"    pub {_name(row)}: [{KINDS[dtype]}; {_size(shape)}],\n" for row, dtype, shape, _ in rows)
    return f"#[repr(C)]\npub struct {name} {{\n{members}}}\n"


def _rust(title: str, function: WrittenFunction, rows: dict[str, list[Row]], *, shared: bool) -> str:
    """A function of C, and a struct with the memory that it needs, but for a state that is shared, which a call is given."""
    name, bound = function.name, function.bound
    types = {"state": f"{title}_state", "work": f"{name}_work"}
    memory = [part for part in types if rows[part]]
    owned = [part for part in memory if part == "work" or not shared]
    slots = [*bound.arguments, *bound.outputs]
    pointers = [
        f"{_name(slot.name)}: *{'mut' if _written(slot, bound.outputs) else 'const'} {_type(slot)}" for slot in slots
    ]
    pointers += [f"{part}: *mut {types[part]}" for part in memory]
    taken = [f"{_name(slot.name)}: &{'mut ' if _written(slot, bound.outputs) else ''}{_type(slot)}" for slot in slots]
    taken += [f"state: &mut {types['state']}"] if rows["state"] and shared else []
    given = [_name(slot.name) for slot in slots]
    given += [f"&mut *self.{part}" if part in owned else part for part in memory]
    struct = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    fields = [f"    {'pub ' if part == 'state' else ''}{part}: Box<{types[part]}>," for part in owned]
    made = ", ".join(f"state: {types['state']}::new()" if part == "state" else f"{part}: zeroed()" for part in owned)
    return "\n".join([
        *([_struct(types["work"], rows["work"])] if rows["work"] else []),
        'extern "C" {', f"    fn {name}({', '.join(pointers)}) -> c_int;", "}", "",
        f"/// The function `{name}`; each thread may have one.",
        f"pub struct {struct} {{", *fields, "}", "",
        f"impl {struct} {{",
        f"    pub fn new() -> {struct} {{", f"        {struct} {{ {made} }}", "    }", "",
        "    /// The error is the number of the check that failed; the state is then as it was.",
        f"    pub fn call(&mut self, {', '.join(taken)}) -> Result<(), c_int> {{",
        f"        match unsafe {{ {name}({', '.join(given)}) }} {{",
        "            0 => Ok(()),", "            check => Err(check),", "        }", "    }", "}", "",
    ])  # fmt: skip


KINDS = {"bool": "u8", "float32": "f32", "float64": "f64"} | {
    f"{'u' * (letter == 'u')}int{width}": f"{letter}{width}" for letter in "iu" for width in (8, 16, 32, 64)
}
"""Rust's types, by dtypes."""


def _name(name: str) -> str:
    """A name of C in Rust."""
    return f"{name}_" if name in UNESCAPED else f"r#{name}" if name in KEYWORDS else name


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for each in shape:
        size *= each
    return max(size, 1)


def _type(slot: Slot) -> str:
    return f"[{KINDS[str(slot.value.dtype)]}; {max(slot.value.size, 1)}]"


def _written(slot: Slot, outputs: list[Slot]) -> bool:
    return slot.written or any(slot is each for each in outputs)


TARGETS: dict[str, Callable[[Exported], str]] = {"{name}.mjs": javascript, "{name}.rs": rust}
"""The wrappers, by the names of files."""
