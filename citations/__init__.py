"""Citations and names of acts: found in running text, and resolved against law in memory; nothing here touches a graph."""
