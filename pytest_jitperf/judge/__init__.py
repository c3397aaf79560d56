"""From measurements to verdicts: pure functions of values."""
