"""Where memories live: stores that keep the contract in `contract`, and the search index they may share."""
