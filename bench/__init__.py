"""Linkwork next to its peers, in one process, on the same core, in the same run: `python -m bench.run`."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before anything reads them
