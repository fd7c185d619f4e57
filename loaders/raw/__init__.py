"""Raw text in: files, tables and TEI works to cleaned documents, each character traceable to its source."""
