"""Numbers of many samples → estimates with intervals. It knows arrays, not sweeps."""
