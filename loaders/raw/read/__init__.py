"""Raw text from files, tables, TEI works and datasets, as documents."""
