"""Reading documentation as text: markup, sentences, words. Pure, and beneath everything else."""
