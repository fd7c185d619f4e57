"""Cards, release folders and the Hub."""
