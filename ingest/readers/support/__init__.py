"""Tools that several readers share."""
