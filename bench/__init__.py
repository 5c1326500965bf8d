"""Measurements, side by side in one run: each program prints one table, or one JSON object with ``--json``."""
