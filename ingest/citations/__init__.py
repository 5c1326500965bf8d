"""Citations of acts that are read, linked to what the graph has."""
