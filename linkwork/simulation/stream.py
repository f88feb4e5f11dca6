"""Uniform numbers by counter: number i of a stream is a function of (seed, name, i) and of nothing else.

Philox 4×32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3):

    (c₀, c₁, c₂, c₃) → (hi(M₁ c₂) ⊕ c₁ ⊕ k₀,  lo(M₁ c₂),  hi(M₀ c₀) ⊕ c₃ ⊕ k₁,  lo(M₀ c₀)),   k ← k + W,  ten times

The key comes from seed and name by SHA-256, so that an input that is added leaves the others as they are.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

M0, M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
W0, W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
ROUNDS = 10
MASK, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)

Key = tuple[int, int]


def philox(counter: np.ndarray, key: Key) -> np.ndarray:
    """Four words of 32 bits for each counter of four words, (…, 4) as uint64."""
    c0, c1, c2, c3 = (counter[..., k].astype(np.uint64) for k in range(4))
    k0, k1 = np.uint64(key[0]), np.uint64(key[1])
    for _ in range(ROUNDS):
        p0, p1 = M0 * c0, M1 * c2
        c0, c1, c2, c3 = (p1 >> HALF) ^ c1 ^ k0, p1 & MASK, (p0 >> HALF) ^ c3 ^ k1, p0 & MASK
        k0, k1 = np.uint64(int(k0) + int(W0)) & MASK, np.uint64(int(k1) + int(W1)) & MASK
    return np.stack([c0, c1, c2, c3], axis=-1)


def key(seed: int, name: str) -> Key:
    """The key of the stream of that name."""
    digest = hashlib.sha256(f"linkwork stream\0{seed}\0{name}".encode()).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")


def bits(seed: int, name: str, index: np.ndarray, use: int = 0) -> np.ndarray:
    """52 random bits for each index, as uint64. Another `use` gives numbers that have nothing to do with these."""
    index = np.asarray(index, np.uint64)
    counter = np.stack([index & MASK, index >> HALF, np.full_like(index, use), np.zeros_like(index)], axis=-1)
    words = philox(counter, key(seed, name))
    return (words[..., 0] << np.uint64(20)) | (words[..., 1] >> np.uint64(12))


def unit(of_bits: np.ndarray) -> np.ndarray:
    """Numbers within (0, 1) of 52 bits: (bits + ½) / 2⁵², exact, never 0 or 1."""
    return (of_bits.astype(np.float64) + 0.5) * 2.0**-52


def uniform(seed: int, name: str, index: np.ndarray, use: int = 0) -> np.ndarray:
    """One number within (0, 1) for each index."""
    return unit(bits(seed, name, index, use))


@lru_cache(maxsize=64)
def permutation(seed: int, name: str, n: int) -> np.ndarray:
    """0 … n−1 in random order: the order of n random words."""
    order = np.argsort(bits(seed, name, np.arange(n), use=1), kind="stable")
    order.flags.writeable = False
    return order
