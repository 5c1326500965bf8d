"""From published law to the graph: one reader a source format, linking, and the loader."""
