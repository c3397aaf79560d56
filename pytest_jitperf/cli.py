"""The ``jitperf`` command."""
