"""A game in words: the tellings of the documents, and every position as a sentence."""
