"""Numbers without derivatives: special functions, random draws, blocks and threads, printed text."""
