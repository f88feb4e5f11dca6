"""What a mechanism does: one page per formulation, as sweeps over the tree."""
