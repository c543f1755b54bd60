"""torch.utils.data's public names: data sets, samplers, and the loader of batches."""

from .collating import default_collate as default_collate, default_convert as default_convert
from .datasets import (
    ChainDataset as ChainDataset,
    ConcatDataset as ConcatDataset,
    Dataset as Dataset,
    IterableDataset as IterableDataset,
    StackDataset as StackDataset,
    Subset as Subset,
    TensorDataset as TensorDataset,
    random_split as random_split,
)
from .loader import DataLoader as DataLoader
from .samplers import (
    BatchSampler as BatchSampler,
    DistributedSampler as DistributedSampler,
    RandomSampler as RandomSampler,
    Sampler as Sampler,
    SequentialSampler as SequentialSampler,
    SubsetRandomSampler as SubsetRandomSampler,
    WeightedRandomSampler as WeightedRandomSampler,
)
from .working import WorkerInfo as WorkerInfo, get_worker_info as get_worker_info
