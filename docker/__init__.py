"""Images and a compose file of the service, and the same servers without Docker."""
