"""Sources fetched and unpacked."""
