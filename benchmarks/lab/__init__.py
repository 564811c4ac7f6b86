"""How fast the lab is, beside its peers and its limits, in one run."""
