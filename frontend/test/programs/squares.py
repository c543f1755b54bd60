"""A squared error, with a name too long for any box."""

import pullback
from pullback import nn

pullback.manual_seed(3)
a_network_with_a_name_that_is_longer_than_any_box_is_wide = nn.Sequential(
    nn.Linear(2, 3), nn.Sigmoid(), nn.Linear(3, 1)
)
places, heights = pullback.randn(5, 2), pullback.randn(5, 1)
loss = ((a_network_with_a_name_that_is_longer_than_any_box_is_wide(places) - heights) ** 2).mean()
loss.backward()
