"""Completes a copy of docs/ for Sphinx: an entry for each public name, the pages of explain, and the tree of the pages.

python scripts/reference.py FOLDER. An entry has the signatures of the stubs and the docstring of the object. Nothing is
listed by hand but the modules: their public names are what they say themselves, by `__all__` or `dir`.
"""

import ast
import builtins
import functools
import importlib
import inspect
import operator
import re
import runpy
import shutil
import sys
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pullback
from beside import beside_torch
from gallery import gallery
from inserts import DOCS, LINK, ROOT, SOURCE, changelog, drawn, fields, live, symptoms
from pullback import vocabulary
from pullback._tensor import surface

STUBS = ROOT / "stubs" / "pullback-stubs"
REPOSITORY = "https://github.com/pullback-autograd/pullback/blob/main/"
MODULES = (
    "pullback array_api array_api.fft array_api.linalg array_api.special autograd autograd.forward_ad "
    "autograd.functional autograd.graph compat.autograd compat.torch compile distributed distributions "
    "distributions.constraints explain extend fft files func interop.einops interop.scipy "
    "interpreters linalg masked nn nn.functional nn.init "
    "nn.utils nn.utils.parametrizations nn.utils.parametrize nn.utils.prune nn.utils.rnn observe optim optim.lr_scheduler "
    "optim.swa_utils program signal.windows sparsity special testing utils.checkpoint utils.data utils.trees"
).split()
# What these modules have from others, for users of torch's names
ALSO = {
    "autograd.graph": "GradientEdge Node get_gradient_edge",
    "utils.checkpoint": """
        CheckpointPolicy SelectiveCheckpointContext check_backward_validity checkpoint checkpoint_sequential
        create_selective_checkpoint_contexts detach_variable noop_context_fn set_checkpoint_debug_enabled
        set_checkpoint_early_stop""",
}
# Names that modules have from others, where their entries are
ELSEWHERE = {"observe": {"Node", "Primitive"}}
# What some names of types in sources stand for; stubs have that in their place, too
ALIASES = {
    node.target.id: ast.unparse(node.value)
    for node in ast.walk(ast.parse((SOURCE / "pullback" / "_core" / "typing.py").read_text(encoding="utf-8")))
    if isinstance(node, ast.AnnAssign)
    and isinstance(node.target, ast.Name)
    and node.target.id in {"Dim", "Sizes", "Device"}
    and node.value
}
# What is said of values, whose own docstrings are those of their types
VALUES = {
    "e": "Euler's number, the base of the natural logarithm.",
    "inf": "Infinity, which is larger than each number.",
    "nan": "Not a number: the result of 0 / 0 and the like, which equals nothing, not even itself.",
    "pi": "The circumference of a circle of diameter 1.",
    "newaxis": "None, which as an index adds an axis of length 1.",
    "is_cpu": "True: the elements are in the memory of the CPU.",
    "is_cuda": "False: there is no CUDA device.",
    "is_meta": "False: there are no tensors without elements' values.",
    "is_mkldnn": "False: the elements are in the order of the strides, not in oneDNN's.",
    "is_mps": "False: there is no Metal device.",
    "is_nested": "False: there are no nested tensors.",
    "is_quantized": "False: there are no quantized tensors.",
    "is_sparse": "False: all tensors are dense.",
    "is_xpu": "False: there is no XPU device.",
}
ITEM = re.compile(r"^- .*?\]\(([^)#:]+)\.md\)|^\| .*?\]\(([^)#:]+)\.md\)", re.MULTILINE)


def owner(module: str) -> Any:
    """The module or class whose names one page lists."""
    path = module if module == "pullback" else f"pullback.{module}"
    return pullback.Tensor if module == "Tensor" else importlib.import_module(path)


def has_page(holder: Any, name: str) -> bool:
    """Whether what a module has by a name is no module, or one that has a page or holds some that have."""
    value = getattr(holder, name)
    path = getattr(value, "__name__", "").removeprefix("pullback.")
    return not isinstance(value, types.ModuleType) or any(f"{each}.".startswith(f"{path}.") for each in MODULES)


def names(module: str) -> list[str]:
    """The public names of a module: those of an index, or `__all__`, or else what it defines itself."""
    holder = owner(module)
    found = [name for name in dict.fromkeys(dir(holder)) if not name.startswith("_") and has_page(holder, name)]
    if "__dir__" in vars(holder) or isinstance(holder, type):
        return found
    if listed := getattr(holder, "__all__", None):
        return sorted({*listed} - ELSEWHERE.get(module, set()))
    own = ALSO.get(module, "").split()
    modules = {name: str(getattr(getattr(holder, name), "__module__", "")) for name in found}
    return [name for name in found if name in own or modules[name].startswith(holder.__name__)]


@functools.cache
def described(module: str, name: str) -> str:
    """The docstring of a public name; of a value, what `VALUES` says of it."""
    value = getattr(owner(module), name)
    own = not isinstance(value, (bool, int, float, str, type(None)))
    return (inspect.getdoc(value) or "" if own else VALUES.get(name, "")).strip()


def examples() -> dict[str, tuple[int, int]]:
    """How many names each module has, without modules, and how many of them have an example."""
    found = {}
    for module in (*MODULES, "Tensor"):
        values = {name: getattr(owner(module), name) for name in names(module)}
        texts = [described(module, name) for name, value in values.items() if not isinstance(value, types.ModuleType)]
        found[module] = len(texts), sum(">>>" in text for text in texts)
    return found


@functools.cache
def declared(path: Path) -> dict[str, list[ast.FunctionDef]]:
    """The functions of a file and of its classes, by their qualified names; several where there are overloads."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for each in inside:
            if isinstance(each, ast.FunctionDef):
                found.setdefault(prefix + each.name, []).append(each)
    return found


def files(module: str) -> Iterator[Path]:
    """Where a module may be declared: its stub, then its source."""
    inner = module.removeprefix("pullback").strip(".").replace(".", "/")
    for root, suffix in ((STUBS, ".pyi"), (SOURCE / "pullback", ".py")):
        yield from (root / f"{inner}{suffix}", root / inner / f"__init__{suffix}")


def signatures(module: str, name: str, value: Any) -> list[str]:
    """The forms in which a function can be called, with the types of the stubs; none for what is no function."""
    if isinstance(value, type):
        makers = [
            (base, maker) for base in value.__mro__[:-1] for maker in ("__init__", "__new__") if maker in vars(base)
        ]
        if (
            makers
            and (code := getattr(vars(makers[0][0])[makers[0][1]], "__code__", None))
            and code.co_filename.startswith("<")
        ):
            return [written(of_settings(value), bound=True)]
        places = [(base.__module__, f"{base.__qualname__}.{maker}") for base, maker in makers]
    elif callable(value):
        inner = getattr(value, "__qualname__", name)
        places = (
            [("pullback._tensor.tensor", f"Tensor.{name}")] if module == "Tensor" else [(f"pullback.{module}", name)]
        )
        places += [("pullback", name)] if module == "pullback" else []
        places += [(str(getattr(value, "__module__", None)), inner)]
    else:
        return []
    for where, inner in places:
        for path in files(where):
            if forms := declared(path).get(inner):
                overloads = [node for node in forms if "overload" in map(plain_name, node.decorator_list)]
                return [written(node, "." in inner) for node in overloads or forms]
    return [called(value)]


def plain_name(node: ast.expr) -> str:
    """A name without the underscore that it has in stubs."""
    return ast.unparse(node).lstrip("_")


def of_settings(value: type) -> ast.FunctionDef:
    """The declaration that the settings of a class make, whose `__init__` no file has."""
    texts = []
    for each in inspect.signature(value).parameters.values():
        kind = each.annotation if isinstance(each.annotation, str) else inspect.formatannotation(each.annotation)
        texts.append(f"{each.name}: {kind}" + ("" if each.default is each.empty else f" = {Default(each.default)!r}"))
    declaration = ast.parse(f"def __init__(self, {', '.join(texts)}): ...").body[0]
    assert isinstance(declaration, ast.FunctionDef)
    return declaration


def called(value: Any) -> str:
    """The signature that Python knows, for what no file declares."""
    try:
        given = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    kept = [each.replace(annotation=each.empty) for each in given.parameters.values() if each.name != "self"]
    plain = [each if each.default is each.empty else each.replace(default=Default(each.default)) for each in kept]
    return str(inspect.Signature(plain))


class Default:
    """A default that is written on one line, without an address."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        text = repr(self.value)
        return "..." if "<" in text or "\n" in text else text


def written(node: ast.FunctionDef, bound: bool) -> str:
    """The arguments and the result of a declaration; a method is shown without its instance."""
    given = ast.parse(ast.unparse(node)).body[0].args  # type: ignore[attr-defined]  # a copy
    static = any(getattr(each, "id", "") == "staticmethod" for each in node.decorator_list)
    if bound and not static:
        before = given.posonlyargs or given.args
        del before[:1]
    result = f" -> {ast.unparse(Types().visit(node.returns))}" if node.returns and node.name != "__init__" else ""
    return f"({ast.unparse(Types().visit(given))}){result}"


class Types(ast.NodeTransformer):
    """Names of types by their modules, which links need: `float` is also a dtype of pullback."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """An argument with its type."""
        node.annotation = node.annotation and self.visit(node.annotation)
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        """All arguments; defaults are values, and stay."""
        for each in (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg):
            if each:
                self.visit(each)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name, without the underscore that it has in stubs; what it stands for, if that says more."""
        name = node.id.lstrip("_")
        if name in ALIASES:
            return self.visit(ast.parse(ALIASES[name], mode="eval").body)
        module = "builtins." if hasattr(builtins, name) else "pullback." if name == "Tensor" else ""
        return ast.Name(module + name)


def markdown(text: str, known: set[str]) -> str:
    """A docstring as MyST: sections in bold, examples in blocks, names that have an entry as links to it."""
    text = re.sub(r"^(\w[\w ]*)\n-{3,}$", r"\n**\1**\n", text, flags=re.MULTILINE)
    text = text.replace("](../docs/", "](../../")  # a link of a module to a page
    parts = re.split(r"(?m)((?:^[ \t]*>>>.*\n?(?:^(?![ \t]*$).*\n?)*\n?)+)", text + "\n")
    for place, part in enumerate(parts):
        if place % 2:
            parts[place] = f"\n```python\n{textwrap.dedent(part).strip()}\n```\n"
        else:
            terms = re.sub(r"(?m)^(\*{0,2}[\w, ]+)\n((?: {4}.*\n?)+)", term, part)
            parts[place] = re.sub(r"(?<!`)`([\w.]+)(\(\))?`(?!`)", functools.partial(link, known), terms)
    return re.sub(r"\n{3,}", "\n\n", "".join(parts)).strip()


def term(match: re.Match[str]) -> str:
    """A parameter and what it is, as a definition list has it."""
    text = textwrap.dedent(match[2]).strip().replace("\n", "\n  ")
    return f"`{match[1]}`\n: {text}\n\n"


def link(known: set[str], match: re.Match[str]) -> str:
    """A name in a docstring, as a link if it has an entry."""
    for path in (match[1], f"pullback.{match[1]}"):
        if path in known:
            return f"{{py:obj}}`{match[1]}{match[2] or ''} <{path}>`"
    return match[0]


def fenced(kind: str, title: str, body: str, *, index: bool = True) -> str:
    """A directive of MyST."""
    return f"``````{{{kind}}} {title}\n{'' if index else ':no-index:' + chr(10)}\n{body}\n``````\n"


def entry(module: str, name: str, known: set[str]) -> str:
    """The entry of a name: how it is called, what it is, and its methods if it is a class."""
    holder = owner(module)
    value = inspect.getattr_static(holder, name) if module == "Tensor" else getattr(holder, name)
    value = value.__get__(None, holder) if isinstance(value, (staticmethod, classmethod)) else value
    path = f"{prefix(module)}.{name}"
    if isinstance(value, types.ModuleType):
        return fenced("py:data", path, f"The module {page_link(value)}.")
    text = described(module, name)
    same = getattr(value, "__name__", name)
    if same != name and getattr(holder, same, None) is value:
        text = f"Another name of `{prefix(module)}.{same}`.\n\n{text}"
    forms = signatures(module, name, value)
    if not forms:
        shown = (
            ""
            if isinstance(value, property) or inspect.isdatadescriptor(value)
            else f"\n\nIts value: `{repr(value)[:100]}`"
        )
        kind = "py:attribute" if module == "Tensor" else "py:data"
        return fenced(kind, path, markdown(text, known) + shown.replace("\n ", " "))
    kind = "py:class" if isinstance(value, type) else "py:method" if module == "Tensor" else "py:function"
    parts = [markdown(with_table(text, forms[-1], module), known), source_link(value)]
    if isinstance(value, type):
        parts += [inherited(value, known), members(path, value, known)]
    body = "\n\n".join(filter(None, parts))
    empty = [fenced(kind, path + form, "", index=not place) for place, form in enumerate(forms[:-1])]
    return "\n".join([*empty, fenced(kind, path + forms[-1], body, index=len(forms) == 1)])


PARAMETERS = re.compile(
    r"^Parameters\n-{3,}\n((?:.*\n?)*?)(?=^\w[\w ]*\n-{3,}|^[ \t]*>>>|^\S.*[^\w, *\n].*$|\Z)", re.MULTILINE
)
TERM = re.compile(r"^(\*{0,2}\w[\w, *]*)\n((?: {4}.*\n?|\n(?= {4}))+)", re.MULTILINE)


EXPLAINED_BY = re.compile(r"[Aa]rguments (?:as for|are those of) ((?:`[\w.]+`(?:, | and )?)+)")
"""How a docstring says that those of others say what its arguments mean."""
AT_THE_END = re.compile(rf"; {EXPLAINED_BY.pattern}")
HOLDERS = pullback.nn.functional, pullback.nn, pullback.optim, pullback, types.SimpleNamespace(pullback=pullback)
SPELLINGS = {ours: other for other in vocabulary.NUMPYS for ours in vocabulary.SPELLINGS[other]}


def meanings(section: str) -> dict[str, str]:
    """What a section of parameters says of each."""
    return {
        name.strip("* "): " ".join(about.split()).replace("|", "\\|")
        for names, about in TERM.findall(section)
        for name in names.split(",")
    }


def meanings_elsewhere(text: str) -> dict[str, str]:
    """What the arguments mean that are those of another class or function."""
    found: dict[str, str] = {}
    for name in re.findall(r"[\w.]+", " ".join(EXPLAINED_BY.findall(text))):
        for holder in HOLDERS:
            if hasattr(holder, name.partition(".")[0]):
                found |= all_meanings(inspect.getdoc(operator.attrgetter(name)(holder)) or "")
                break
    return found


def all_meanings(text: str) -> dict[str, str]:
    """What a docstring says of parameters, by itself or by another one."""
    section = PARAMETERS.search(text)
    return meanings_elsewhere(text) | meanings(section[1] if section else "")


@functools.cache
def in_common(module: str) -> dict[str, str]:
    """What parameters mean in all functions of a module that do not say otherwise."""
    return all_meanings((owner(module if module != "Tensor" else "pullback").__doc__) or "")


def explained(text: str, form: str, module: str) -> Iterator[tuple[str, str, str, str]]:
    """The arguments of a signature with their types, defaults and meanings."""
    cells = [cell for cell in arguments(form) if not cell[0].startswith("_")]
    taken = {name for name, *_ in cells}
    found: dict[str, str] = {}
    for said in (in_common(module), all_meanings(text)):
        found |= {SPELLINGS[name]: about for name, about in said.items() if SPELLINGS.get(name) in taken} | said
    yield from ((*each, found.get(each[0], "")) for each in cells)


def with_table(text: str, form: str, module: str) -> str:
    """A docstring whose section of parameters is a table with their types and defaults."""
    section = PARAMETERS.search(text)
    rows = [*explained(text, form, module)]
    said = {SPELLINGS.get(name, name) for name in meanings(section[1] if section else "")}
    if not rows or said - {
        SPELLINGS.get(name, name) for name, *_ in rows
    }:  # of arguments that the signature does not name
        return text
    titles = ["parameter", "type", "default", "meaning"][: 4 if any(row[3] for row in rows) else 3]
    lines = [f"| {' | '.join([f'``{row[0]}``', *row[1 : len(titles)]])} |" for row in rows]
    table = "\n".join([f"| {' | '.join(titles)} |", "|---" * len(titles) + "|", *lines])
    if section:
        return f"{text[: section.start()]}\n{table}\n\n{text[section.end() :]}"
    later = re.search(r"(?m)^[ \t]*>>>|^\w[\w ]*\n-{3,}$", text)
    place = later.start() if later else len(text)
    return f"{text[:place].rstrip()}\n\n{table}\n\n{text[place:]}"


def arguments(form: str) -> Iterator[tuple[str, str, str]]:
    """The arguments of a signature with their types and defaults, as cells of a table."""
    try:
        given = ast.parse(f"def f{form}: ...").body[0].args  # type: ignore[attr-defined]  # a function's
    except SyntaxError:  # what Python says of a builtin
        return
    places = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(places) - len(given.defaults)), *given.defaults, *given.kw_defaults]
    for each, default in zip([*places, *given.kwonlyargs], defaults, strict=True):
        kind = ast.unparse(each.annotation) if each.annotation else ""
        kind = re.sub(r"\b(builtins|pullback)\.", "", kind).replace("|", "\\|")
        yield each.arg, f"``{kind}``" if kind else "", f"``{ast.unparse(default)}``" if default else ""


def source_link(value: Any) -> str:
    """A link to the lines of a class or function, if it is written in a file of the package."""
    try:
        inner = inspect.unwrap(value)
        path, line = Path(inspect.getsourcefile(inner) or "").resolve(), inspect.findsource(inner)[1] + 1
    except (TypeError, OSError, ValueError):  # made at run time
        return ""
    place = path.relative_to(ROOT).as_posix() if path.is_relative_to(SOURCE) else ""
    return f"[source]({REPOSITORY}{place}#L{max(line, 1)})" if place else ""


def inherited(kind: type, known: set[str]) -> str:
    """The classes of the package that a class inherits from, and the methods that it has from them and from others."""
    covered, lines, silent = set(vars(kind)), [], set()
    bases = [base for base in kind.__mro__[1:-1] if base.__module__.startswith("pullback")]
    for base in bases:
        paths = sorted(each for each in known if each.endswith(f".{base.__name__}"))
        path = next((each for each in paths if found(each) is base), None)
        if path and not covered.issuperset(dir(base)):
            own = [name for name in described_members(path, base) if name not in covered]
            methods = ", ".join(f"{{py:obj}}`{name} <{path}.{name}>`" for name in own)
            lines.append(f"Inherits the methods of {{py:obj}}`{base.__name__} <{path}>`.\n\n{methods}".strip())
            covered.update(dir(base))
    for base in bases:
        silent |= {name for name, value in vars(base).items() if name not in covered and callable(value)}
    listed = sorted(name for name in silent if not name.startswith("_"))
    last = [f"Inherited methods: {', '.join(f'``{name}``' for name in listed)}."] if listed else []
    return "\n\n".join([*lines, *last])


def found(path: str) -> Any:
    """What has an entry by a path."""
    module, _, name = path.rpartition(".")
    return getattr(owner(module.removeprefix("pullback.")), name)


def described_members(path: str, kind: type) -> list[str]:
    """The methods and properties of a class that have entries: those that it itself defines and describes."""
    inside = path.removeprefix("pullback.").startswith("nn.")
    if (
        not kind.__module__.startswith("pullback")
        or kind is pullback.Tensor
        or (inside and kind.__name__ not in {"Module", "Parameter"})
    ):
        return []
    kinds = property, staticmethod, classmethod
    return [
        name
        for name, value in vars(kind).items()
        if not name.startswith("_")
        and getattr(value, "__doc__", None)
        and (callable(value) or isinstance(value, kinds))
    ]


def members(path: str, kind: type, known: set[str]) -> str:
    """The entries of the methods and properties of a class."""
    made = []
    for name in described_members(path, kind):
        value = vars(kind)[name]
        forms = [] if isinstance(value, property) else signatures("", name, getattr(kind, name))
        what = "py:property" if isinstance(value, property) else "py:method"
        body = markdown(inspect.cleandoc(value.__doc__), known)
        made.append(fenced(what, f"{path}.{name}{forms[-1] if forms else ''}", body).replace("``````", "`````"))
    return "\n".join(made)


def prefix(module: str) -> str:
    """What stands before the names of a module."""
    return "pullback" if module == "pullback" else f"pullback.{module}"


def page_link(module: types.ModuleType) -> str:
    """A module, as a link if it has a page."""
    inner = module.__name__.removeprefix("pullback.")
    return f"[`{module.__name__}`]({inner}.md)" if inner in MODULES else f"`{module.__name__}`"


def first(text: str) -> str:
    """The first sentence of a docstring, for a table."""
    paragraph = AT_THE_END.sub("", " ".join(text.split("\n\n", maxsplit=1)[0].split()))
    return re.split(r"(?<=\.) ", paragraph)[0].replace("|", "\\|")


OF_PACKAGE = {"package", "of_tensor", "of_pair", "of_either", "of_method"}
FORMS = {"pullback": OF_PACKAGE, "Tensor": {"of_method", "method", "in_place"}}
"""In which forms the table of names has those of the two longest lists, whose groups are its modules."""
FIRST = {
    "pullback": "tensor Tensor no_grad nn optim func compile explain",
    "Tensor": "backward grad requires_grad detach numpy",
}
PIXELS = 7200
"""How high a page may be by the estimate of `height`; measured, none is above 12 000."""
CHAPTERS = (*MODULES, "Tensor")


def groups(module: str, listed: list[str]) -> dict[str, list[str]]:
    """Names by the module that the table of names has them in; small groups and the others together."""
    place = {
        word.partition("=")[0] + "_" * form.startswith("in_place"): room.rpartition(".")[2].replace("_", " ")
        for room, rows in surface.TABLE.items()
        for forms, words in rows.items()
        for form in forms.split()
        if form.partition("+")[0] in FORMS[module]
        for word in words.split()
    }
    made: dict[str, list[str]] = {}
    for name in listed:
        made.setdefault(place.get(name, "others"), []).append(name)
    small = {group for group, inside in made.items() if len(inside) < 4} - {"others"}
    others = sorted(sum((made.pop(group) for group in small), made.pop("others", [])))
    return dict(sorted(made.items())) | ({"others": others} if others else {})


def table(module: str, listed: list[str]) -> str:
    """The names of a page with their first sentences, each a link to its entry."""
    rows = [f"| {{py:obj}}`{name} <{prefix(module)}.{name}>` | {first(described(module, name))} |" for name in listed]
    return "\n".join(["| name | what it is |", "|---|---|", *rows])


def height(text: str) -> float:
    """About how many pixels a text takes on a page at a width of 1400."""
    return sum((36 if line.startswith("|") else 15) * (1 + len(line) // 160) for line in text.splitlines())


def split(texts: dict[str, str]) -> list[list[str]]:
    """Names in the order of their entries, as many together as a page may have."""
    parts: list[list[str]] = []
    room = 0.0
    for name, text in texts.items():
        room -= height(text) + 36  # its row of the table
        if room < 0 or not parts:
            parts.append([])
            room = PIXELS - height(text)
        parts[-1].append(name)
    return parts


def class_page(module: str, name: str, known: set[str]) -> str:
    """The page of a class: what differs from torch, its entry, and what refers to it."""
    up = f"In [{prefix(module)}]({module}.md). {beside_torch(module, [name])}"
    return f"# {name}\n\n{up}\n\n{entry(module, name, known)}\n{see_also(module, name)}"


def pages() -> dict[str, str]:
    """The pages of the API by the names of their files."""
    known = {f"{prefix(module)}.{name}" for module in CHAPTERS for name in names(module)}
    made: dict[str, str] = {}
    for module in CHAPTERS:
        made |= chapter(module, known)
    return made


def chapter(module: str, known: set[str]) -> dict[str, str]:
    """The page of a module or of Tensor, those of its classes, and those of its functions if they do not fit on it."""
    listed, holder = names(module), owner(module)
    alone = [name for name in listed if module != "Tensor" and isinstance(getattr(holder, name), type)]
    texts = {name: entry(module, name, known) for name in listed if name not in alone}
    about = f"# {prefix(module)}\n\n{markdown(inspect.getdoc(holder) or '', known)}\n\n"
    same = beside_torch(module, [*texts]) if texts else ""
    made = {f"{module}.{name}": class_page(module, name, known) for name in alone}
    whole = f"{about}{same}{table(module, listed)}\n\n" + "\n".join(texts.values())
    if module not in FORMS and height(whole) <= PIXELS:
        return made | {module: whole}
    rows, tree = [], []
    for group, inside in (groups(module, [*texts]) if module in FORMS else {"": [*texts]}).items():
        for part in split({name: texts[name] for name in inside}):
            title = ", ".join(
                filter(None, [group, "" if len(part) == len(inside) and group else f"{part[0]} to {part[-1]}"])
            )
            page = f"{module}-{re.sub('[^A-Za-z0-9_]+', '-', title)}"
            body = "\n".join(texts[name] for name in part)
            made[page] = f"# {module}: {title}\n\n{beside_torch(module, part)}\n\n{table(module, part)}\n\n{body}"
            rows.append(f"| [{title}]({page}.md) | {linked(module, part)} |")
            tree.append(page)
    head = [f"| the first | {linked(module, FIRST[module].split())} |"] if module in FORMS else []
    classes = [f"| classes | {linked(module, alone)} |"] if alone and module in FORMS else []
    contents = "\n".join(["| group | names |", "|---|---|", *head, *classes, *rows])
    if module not in FORMS:
        contents = table(module, listed)
    toctree = "\n".join(tree)
    return made | {module: f"{about}{contents}\n\n```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"}


def linked(module: str, listed: list[str]) -> str:
    """Names as links to their entries."""
    return ", ".join(f"{{py:obj}}`{name} <{prefix(module)}.{name}>`" for name in listed)


@functools.cache
def guides() -> dict[str, tuple[str, str]]:
    """The pages about tasks, with their titles and texts."""
    read = {
        page: page.read_text(encoding="utf-8")
        for room in ("start", "tutorial", "how-to")
        for page in (DOCS / room).glob("*.md")
    }
    return {
        page.relative_to(DOCS).as_posix(): (text[2:].partition("\n")[0], text)
        for page, text in sorted(read.items())
        if page.stem != "index"
    }


def named(form: re.Pattern[str], name: str, text: str) -> bool:
    """Whether a text has a name in that form; to find the name alone is much quicker."""
    return name in text and form.search(text) is not None


def see_also(module: str, name: str) -> str:
    """Classes and functions of the module whose docstrings name a class, and pages that use it."""
    path = name if module == "pullback" else f"{module}.{name}"
    word = re.compile(rf"(?<![\w.])(?:(?:pullback|torch)\.)?{re.escape(path)}(?!\w)")
    own = re.compile(rf"`(?:{re.escape(module)}\.)?{name}(?:\(\))?`")
    near = [each for each in names(module) if each != name and named(own, name, described(module, each))]
    used = [f"[{title}](../../{page})" for page, (title, text) in guides().items() if named(word, path, text)]
    lines = [f"- Named by {linked(module, near[:8])}"] if near else []
    lines += [f"- Used in {', '.join(used[:6])}"] if used else []
    return "\n## See also\n\n" + "\n".join(lines) + "\n" if lines else ""


def within(folder: Path) -> None:
    """Add to each index the tree of the pages that it lists, and let links out of docs/ lead to the repository."""
    for page in folder.rglob("*.md"):
        home = DOCS / page.relative_to(folder).parent

        def outward(match: re.Match[str], home: Path = home) -> str:
            target = (home / match[1]).resolve()
            if target.is_relative_to(DOCS) or not target.exists():
                return match[0]
            return f"]({REPOSITORY}{target.relative_to(ROOT).as_posix()}{match[2] or ''})"

        text = LINK.sub(outward, page.read_text(encoding="utf-8"))
        if page.name == "index.md":
            inside = dict.fromkeys(a or b for a, b in ITEM.findall(text) if ".." not in a + b)
            tree = [name for name in inside if page.parent != folder or name.endswith("index")]
            if page.parent == folder:
                tree = ["start/index", *tree, "changelog"]
            text += "\n```{toctree}\n:hidden:\n\n" + "\n".join(tree) + "\n```\n"
        page.write_text(drawn(folder, page, text), encoding="utf-8")


def origin(file: str, *, alone: bool = False) -> str:
    """The front matter of a page that is written here: the file that its links to source and edit lead to, if there is one.

    A page that is `alone` is not in the tree at the side, which each page has.
    """
    return f'---\nsource: "{file}"\n{"orphan: true" + chr(10) if alone else ""}---\n\n'


def of_class(page: str) -> bool:
    """Whether a page is that of a class."""
    return "-" not in page and page not in CHAPTERS and page.rpartition(".")[0] in CHAPTERS


def page_file(page: str) -> str:
    """The file of the module or class that a page of the API describes; none for groups of names of several modules."""
    if page not in CHAPTERS and not of_class(page):
        return ""
    subject = found(page if page.startswith("pullback.") else f"pullback.{page}") if of_class(page) else owner(page)
    try:
        path = Path(inspect.getsourcefile(subject) or "").resolve()
    except (TypeError, OSError):  # made at run time
        return ""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(SOURCE) else ""


def main(folder: Path) -> None:
    """Write the sources of the site."""
    shutil.copytree(DOCS, folder)
    symptoms(folder)
    architecture = runpy.run_path(str(ROOT / "scripts" / "rooms"))["completed"]()
    (folder / "contribute" / "architecture.md").write_text(architecture, encoding="utf-8")
    api = folder / "reference" / "api"
    api.mkdir()
    for name, text in pages().items():
        (api / f"{name}.md").write_text(f"{origin(page_file(name), alone=of_class(name))}{text}\n", encoding="utf-8")
    (folder / "changelog.md").write_text(origin("CHANGELOG.md") + changelog(), encoding="utf-8")
    for name, anew in ("trace", False), ("trace-anew", True):
        with (folder / "reference" / f"{name}.md").open("a", encoding="utf-8") as file:
            file.write(f"\n{fields(anew=anew)}\n")
    index = folder / "reference" / "index.md"
    before = index.read_text(encoding="utf-8").partition("## API")[0]
    modules = [f"- [`{prefix(module)}`](api/{module}.md)" for module in (*MODULES, "Tensor")]
    index.write_text(
        f"{before}## API\n\nEvery public name, by modules:\n\n" + "\n".join(modules) + "\n", encoding="utf-8"
    )
    within(folder)
    gallery(folder, {f"{prefix(module)}.{name}" for module in CHAPTERS for name in names(module)})
    live(folder / "_static" / "explain")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
    listed, shown = (sum(counts) for counts in zip(*examples().values(), strict=True))
    print(f"reference: {listed:,} names, {shown:,} of them ({shown / listed:.0%}) with an example")
