"""Show a release to reviewers: ``pages`` writes web pages, ``terminal_view`` prints a card in the terminal."""
