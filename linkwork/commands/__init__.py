"""What the commands of `linkwork` do: each calls the package's public functions and tells what came of it."""
