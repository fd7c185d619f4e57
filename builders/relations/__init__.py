"""Tasks over the relation of two units of text, one module each; the name of the module is the name of the task."""
