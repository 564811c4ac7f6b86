"""Speed, measured as ratios against a peer or a limit in the same run."""
