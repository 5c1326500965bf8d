"""Every Cypher statement, in ``.cypher`` files by purpose, and the engines that run them."""
