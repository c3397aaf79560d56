"""The commands of ``jitperf``, one module each: ``HELP``, ``add_arguments`` and ``run``."""
