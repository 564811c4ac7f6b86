"""Games in words: the wordings of the documents, positions and advice as sentences."""
