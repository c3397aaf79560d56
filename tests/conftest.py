from __future__ import annotations

import os

# Before any test imports jax. Set it outside to run the tests of the probe on another platform.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
