"""What readers say of rows: ``marks`` is the file that they write to, ``figures`` is what their marks come to."""
