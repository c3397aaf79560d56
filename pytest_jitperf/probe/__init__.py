"""All that touches JAX and the clock: imported when a measurement starts, never before."""
