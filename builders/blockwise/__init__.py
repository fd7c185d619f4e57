"""Large corpora, built block by block until the sizes are full.

``cut`` groups the parts of a corpus into blocks, ``block_rows`` makes the rows of one block, ``collect`` adds them up
to configs, and ``build_blocks`` runs these steps.
"""
