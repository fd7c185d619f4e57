"""Documents to annotated CoNLL-U: sentence segmentation and annotation with Stanza or rules."""
