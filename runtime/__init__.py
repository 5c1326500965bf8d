"""Plain plumbing for any program: progress, folders written as a whole, calls that time out. Nothing about law."""
