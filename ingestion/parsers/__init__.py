"""One parser per file, behind one small protocol."""
