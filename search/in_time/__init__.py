"""The law in time: an act as it stood on a day, what changed between two days, word by word."""
