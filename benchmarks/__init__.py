"""Speed and memory against good baselines, measured in one run: `make bench`."""
