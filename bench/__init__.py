"""Linkwork next to its peers, in one process, on the same core, in the same run: `python -m bench.run`."""
