"""The states of an act, one after another, as articles with their successive wordings."""
