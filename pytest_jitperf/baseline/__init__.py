"""Baselines on disk: what was measured when it was last accepted, and the programs that it was measured with."""
