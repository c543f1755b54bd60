"""torch.utils.data's public names: data sets, samplers, and the loader of batches."""

from .collating import default_collate as default_collate
from .collating import default_convert as default_convert
from .datasets import ChainDataset as ChainDataset
from .datasets import ConcatDataset as ConcatDataset
from .datasets import Dataset as Dataset
from .datasets import IterableDataset as IterableDataset
from .datasets import StackDataset as StackDataset
from .datasets import Subset as Subset
from .datasets import TensorDataset as TensorDataset
from .datasets import random_split as random_split
from .loader import DataLoader as DataLoader
from .samplers import BatchSampler as BatchSampler
from .samplers import DistributedSampler as DistributedSampler
from .samplers import RandomSampler as RandomSampler
from .samplers import Sampler as Sampler
from .samplers import SequentialSampler as SequentialSampler
from .samplers import SubsetRandomSampler as SubsetRandomSampler
from .samplers import WeightedRandomSampler as WeightedRandomSampler
from .working import WorkerInfo as WorkerInfo
from .working import get_worker_info as get_worker_info
