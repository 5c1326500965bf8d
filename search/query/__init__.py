"""The query as it is understood before it is searched: articles and acts that it names, words that the law knows."""
