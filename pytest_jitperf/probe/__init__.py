"""All that touches JAX and the clock. Imported when a measurement starts; only `clock` is loaded with the plugin."""
