"""Sweeps of models: what a plan says in the words of a model, its samples computed, its results read."""
