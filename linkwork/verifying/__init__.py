"""What `verify` is made of: random states, the comparison of answers, what came out."""
