"""The command line: every verb composes the rooms below it."""
