"""An exporter: a function's program as a graph in the language of Graphviz.

It uses the public interface to compiled programs, `pullback.program`. `python -m program_graph`, in the folder of the
examples, prints the graph of a gradient step; `| dot -Tsvg > step.svg` makes a picture of it.
"""

from .exporting import dot

__all__ = ["dot"]
