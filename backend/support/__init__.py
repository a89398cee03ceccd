"""Whether a passage supports a sentence."""
