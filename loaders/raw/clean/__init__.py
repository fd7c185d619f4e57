"""Cleaning and filtering of raw text. Every character keeps its offset in the source."""
