"""Waves, and a small network that learns them: the kind of code that performance tests are written for."""
