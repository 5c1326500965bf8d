"""Encoders, the legislative graph encoder, its training, and the registry of model versions."""
