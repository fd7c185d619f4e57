"""Text in parquet files, here or anywhere that fsspec reads, as parts of a corpus: a row group is a part.

``remote_files`` lists files, ``parquet_text`` reads their footers and row groups, ``row_group_parts`` makes the parts
and ``segmented_shard`` their tables, without CoNLL-U in between. Only what is loaded is read.
"""
