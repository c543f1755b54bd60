"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from .chunks import chunked as chunked
from .ranks import all_reduce as all_reduce
from .totals import Total as Total
from .totals import total as total
from .work import PartitionError as PartitionError
