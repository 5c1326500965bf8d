"""Ranking lists, fused and pooled over the tree."""
