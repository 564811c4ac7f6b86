"""The web game: a server for browsers and programs, and the page that it serves."""
