"""Models: encoders, graph networks, their training, versions, retraining and evaluation."""
