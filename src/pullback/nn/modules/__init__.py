"""The modules, by torch's families; the index says where each is defined, and it is imported on first access."""

from ..._core import lazy as _lazy

INDEX = {
    "module": "Module",
    "container": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "linear": "Bilinear Identity Linear",
    "sparse": "Embedding EmbeddingBag",
    "recurrent": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
    "activation": (
        "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish PReLU RReLU "
        "ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink "
        "Threshold"
    ),
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm",
    "instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d",
    "normalization": "GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    "dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    "pooling": (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
        "AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d "
        "MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d"
    ),
    "padding": (
        "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d "
        "ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d "
        "ZeroPad3d"
    ),
    "loss": (
        "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss HingeEmbeddingLoss "
        "HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss MarginRankingLoss MultiLabelMarginLoss "
        "MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss SmoothL1Loss SoftMarginLoss "
        "TripletMarginLoss TripletMarginWithDistanceLoss"
    ),
    "adaptive": "AdaptiveLogSoftmaxWithLoss",
    "attention": "MultiheadAttention",
    "transformer": "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer",
    "distance": "CosineSimilarity PairwiseDistance",
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "pixelshuffle": "PixelShuffle PixelUnshuffle",
    "channelshuffle": "ChannelShuffle",
    "upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    "lazy": (
        "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d "
        "LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear "
        "LazyModuleMixin"
    ),
}

__getattr__, __dir__, __all__ = _lazy.index(globals(), INDEX)
