"""Retraining on a timetable, behind a gate."""
