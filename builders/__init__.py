"""Balanced, audited tables out: tasks, sampling, text editing, audit."""
