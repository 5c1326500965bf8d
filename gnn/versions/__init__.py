"""Model versions: identifiers, files, the active one, care of them."""
