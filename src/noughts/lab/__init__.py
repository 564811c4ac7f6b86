"""A lab for people who train players: batches of games, environments, tournaments (extra `lab`)."""
