"""French of the messages of the command line, by their English; values stand in braces under the same names.

``MESSAGES`` are those that the verbs for reading print (search, show, contents, similar, citations). ``FROM_BELOW`` are texts
that the rooms below hand over finished: reasons, and the errors that these verbs can end in.
"""

MESSAGES: dict[str, str] = {
    # Days and numbers
    "%Y-%m-%d": "%d/%m/%Y",
    "{n} article": "{n} article",
    "{n} articles": "{n} articles",
    # The law in time
    "new": "nouveau",
    "repealed": "abrogé",
    "reworded": "modifié",
    "renumbered": "renuméroté",
    "before {day}: article {number}": "avant le {day} : article {number}",
    "since {day}: article {number}": "depuis le {day} : article {number}",
    "The same text under other numbers": "Le même texte sous d'autres numéros",
    "Not in force on {day}.": "Pas en vigueur le {day}.",
    "The wording before: until {day}": "La rédaction précédente : jusqu'au {day}",
    "The wording after: since {day}": "La rédaction suivante : depuis le {day}",
    "{day} lies outside the law that is loaded: from {start} to {end}": "le {day} est hors du droit chargé : du {start} au {end}",
    "{id} was not there on {day}": "{id} n'existait pas le {day}",
    "{id} is no article: lexgraph contents {id} --on DAY lists what stood in it on a day": (
        "{id} n'est pas un article : lexgraph contents {id} --on JOUR donne le sommaire d'un jour"
    ),
    "{id} is no article: only articles have wordings": "{id} n'est pas un article : seuls les articles ont des rédactions",
    "article {number} was not in force on {day}": "l'article {number} n'était pas en vigueur le {day}",
    "nothing was on record of article {number} on {day}": "rien n'était enregistré de l'article {number} au {day}",
    "what was on record of article {number} is known from {since} on, not on {day}": (
        "ce qui était enregistré de l'article {number} n'est connu que depuis le {since}, non au {day}"
    ),
    "the wording of article {number} on {day} is not known": "la rédaction de l'article {number} au {day} n'est pas connue",
    "The source gives its dates alone.": "La source n'en donne que les dates.",
    "The same wording on both days.": "La même rédaction aux deux dates.",
    "{start} comes after {end}: name the earlier day first": "{start} vient après {end} : donnez d'abord la première date",
    "Nothing changed.": "Rien n'a changé.",
    "The source has the law of no other day: articles that it has dropped since are missing here.": (
        "La source n'a le droit d'aucun autre jour : les articles qui en ont disparu depuis manquent ici."
    ),
    # Hits
    "bm25 {rank}": "bm25 {rank}",
    "section {rank}": "section {rank}",
    "vectors {rank}": "vecteurs {rank}",
    "similar questions {rank}": "questions proches {rank}",
    "often cited {rank}": "souvent cité {rank}",
    "like the first answers {rank}": "proche des premières réponses {rank}",
    "top-down {rank}": "par le plan {rank}",
    "named in the query": "nommé dans la requête",
    "heading {rank}": "intitulé {rank}",
    "title": "titre",
    "beginning": "début",
    "whole": "texte entier",
    "reranked {n:+d}": "reclassé {n:+d}",
    "words: {words}": "mots : {words}",
    "text in force from {start} until {end}": "texte en vigueur du {start} au {end} (exclu)",
    "text in force from {start}": "texte en vigueur depuis le {start}",
    "text in force until {end}": "texte en vigueur jusqu'au {end} (exclu)",
    "text of {day} not known; today's is shown": "texte du {day} inconnu ; voici celui d'aujourd'hui",
    "Probably outside the law that is loaded ({acts}: {titles})": "Sans doute hors du droit chargé ({acts} : {titles})",
    "{titles} and {n} more": "{titles} et {n} de plus",
    "{n} code": "{n} code",
    "{n} codes": "{n} codes",
    "{n} act": "{n} texte",
    "{n} acts": "{n} textes",
    "No act is like this one.": "Aucun texte ne ressemble à celui-ci.",
    "No article matches.": "Aucun article ne répond.",
    "No article matches ({conditions}).": "Aucun article ne répond ({conditions}).",
    "act": "texte",
    "section": "section",
    "in force on": "en vigueur le",
    "kind": "nature",
    "jurisdiction": "juridiction",
    "lexgraph: {name} did not answer; the other lists rank alone": (
        "lexgraph : {name} ne répond pas ; les autres listes classent seules"
    ),
    # Pages
    "Article {number}": "Article {number}",
    "on {day}": "au {day}",
    "of {day}": "du {day}",
    "as consolidated on {day}": "version consolidée au {day}",
    "in force from {start} to {end}": "en vigueur du {start} au {end}",
    "in force since {start}": "en vigueur depuis le {start}",
    "in force until {end}": "en vigueur jusqu'au {end}",
    "{n} other wording": "{n} autre version",
    "{n} other wordings": "{n} autres versions",
    " (dates alone)": " (dates seules)",
    "No wording in force on {day} is known.": "Aucune version en vigueur le {day} n'est connue.",
    "The text in force on {day} is not known here: the source gives its dates alone.": (
        "Le texte en vigueur le {day} n'est pas connu ici : la source n'en donne que les dates."
    ),
    "\nThe publisher has it at the address above.": "\nL'éditeur le donne à l'adresse ci-dessus.",
    "… and {n} more (--all)": "… et {n} de plus (--all)",
    "lexgraph contents {id} lists what stands in it": "lexgraph contents {id} en donne le sommaire",
    "Relations": "Relations",
    "Cites": "Cite",
    "Cites, as it reads today": "Cite, dans sa version d'aujourd'hui",
    "Cites outside the graph": "Cite hors du graphe",
    "Cites outside the graph, as it reads today": "Cite hors du graphe, dans sa version d'aujourd'hui",
    "Cited by ({n})": "Cité par ({n})",
    " ({n} times)": " ({n} fois)",
    "transposes {act}": "transpose {act}",
    "transposed by {act}": "transposé par {act}",
    "amends {act}": "modifie {act}",
    "amended by {act}": "modifié par {act}",
    "repeals {act}": "abroge {act}",
    "repealed by {act}": "abrogé par {act}",
    "consolidates {act}": "consolide {act}",
    "consolidated by {act}": "consolidé par {act}",
    "cites {act}": "cite {act}",
    "cited by {act}": "cité par {act}",
    "before: {number}": "avant : {number}",
    "after: {number}": "après : {number}",
    "The graph holds no act: run `lexgraph ingest`.": "Le graphe ne contient aucun texte : lancez `lexgraph ingest`.",
    # Names of law
    "{n} articles are named by {number}: name one by its identifier, or its act with --act": (
        "{number} désigne {n} articles : nommez-en un par son identifiant, ou son texte par --act"
    ),
    "nothing is named {words}": "rien ne porte le nom {words}",
    "nothing is named {words}; nearest: {near}": "rien ne porte le nom {words} ; le plus proche : {near}",
    "{number} is an article, which has no parts (lexgraph show prints it)": (
        "{number} est un article, qui n'a pas de parties (lexgraph show l'affiche)"
    ),
    " (lexgraph search finds articles by their words)": " (lexgraph search trouve les articles par leurs mots)",
    # Citations
    "citations": "citations",
    "where": "vers",
    "how many": "nombre",
}
FROM_BELOW: dict[str, str] = {
    # Servers that may be away
    "the text index": "l'index du texte",
    "the vector search": "la recherche par vecteurs",
    # Citations
    "to articles of the graph": "des articles du graphe",
    "to sections of the graph": "des sections du graphe",
    "to acts of the graph": "des textes du graphe",
    "outside: article": "hors du graphe : article",
    "outside: section": "hors du graphe : section",
    "outside: act": "hors du graphe : texte",
    "outside: page": "hors du graphe : page",
    "acts outside: {type}": "textes hors du graphe : {type}",
    "act not loaded": "texte non chargé",
    "article not in act": "article absent du texte",
    "section not in act": "section absente du texte",
    "ambiguous": "ambigu",
    "range too long": "suite trop longue",
    # Queries
    "Showing results for “{query}”.": "Résultats pour « {query} ».",
    "The query seems to be in another language than the law that is loaded.": (
        "La question semble écrite dans une autre langue que le droit chargé."
    ),
    "Searched in its terms: “{terms}”.": "Recherche dans les termes du droit : « {terms} ».",
    "{act} is not in this law.": "{act} n'est pas dans ce droit.",
    "No article {number} in {act}; nearest: {near}": "Pas d'article {number} dans {act} ; les plus proches : {near}",
    "No article {number} in {act}, but in {others}.": "Pas d'article {number} dans {act}, mais dans {others}.",
    "No article {number} in {act}.": "Pas d'article {number} dans {act}.",
    "No article {number}; nearest: {near}": "Pas d'article {number} ; les plus proches : {near}",
    "No article {number}.": "Pas d'article {number}.",
    "No such section in {act}.": "Pas de telle section dans {act}.",
    "No section is meant without its act.": "Une section ne se trouve pas sans son texte.",
    # Errors
    "the query is empty": "la requête est vide",
    "a search is on a day or across time, not both": "une recherche porte sur un jour ou sur tous les temps, pas sur les deux",
    "the query has {characters} characters; at most {most} are answered": (
        "la requête a {characters} caractères ; {most} au plus sont acceptés"
    ),
    "not a page: {first} hits from {offset} on": "pas une page : {first} réponses à partir de {offset}",
    "not a date: {day} (write YYYY-MM-DD)": "pas une date : {day} (écrivez AAAA-MM-JJ)",
    "no such act: {act}": "texte inconnu : {act}",
    "no such act: {act}; nearest: {near}": "texte inconnu : {act} ; les plus proches : {near}",
    "{n} sections are called {section}: {near}; give the identifier of one, or name its parts": (
        "{n} sections s'appellent {section} : {near} ; donnez l'identifiant de l'une, ou nommez ses parties"
    ),
    "no such section: {section}": "section inconnue : {section}",
    "no such section: {section}; nearest: {near}": "section inconnue : {section} ; les plus proches : {near}",
    "no such jurisdiction: {name}; nearest: {near}": "juridiction inconnue : {name} ; les plus proches : {near}",
    "no such kind of act: {name}; nearest: {near}": "nature inconnue : {name} ; les plus proches : {near}",
    "several acts are called {name}: {acts}; give the identifier of one": (
        "plusieurs textes se nomment {name} : {acts} ; donnez l'identifiant de l'un d'eux"
    ),
    "no model is active: run `lexgraph train`": "aucun modèle n'est actif : lancez `lexgraph train`",
    "first: {first} is not between 1 and {most}": "first : {first} n'est pas entre 1 et {most}",
    "a number of years is negative, or none": "un nombre d'années est négatif, ou n'en est pas un",
    "the acts of the graph are not indexed: run `lexgraph index`": (
        "les textes du graphe ne sont pas indexés : lancez `lexgraph index`"
    ),
    "the law is being loaded, or its load was cut off: run `lexgraph ingest` again": (
        "le droit est en cours de chargement, ou son chargement a été interrompu : relancez `lexgraph ingest`"
    ),
    "the text index does not hold the law of the graph: run `lexgraph index`": (
        "l'index du texte n'est pas celui du droit du graphe : lancez `lexgraph index`"
    ),
    "the text index was being replaced: try again": "l'index du texte était en cours de remplacement : réessayez",
    "no graph at {path}: run `lexgraph ingest` first": "pas de graphe dans {path} : lancez d'abord `lexgraph ingest`",
    "{path}: not a graph that can be opened ({reason})": "{path} : ce graphe ne peut pas être ouvert ({reason})",
    "{path}: not a Lexgraph graph; move it away and run `lexgraph ingest`": (
        "{path} : pas un graphe de Lexgraph ; déplacez-le et lancez `lexgraph ingest`"
    ),
    "{path}: written by a newer Lexgraph (schema {versions}): update Lexgraph, {rest}": (
        "{path} : écrit par un Lexgraph plus récent (schema {versions}) : mettez Lexgraph à jour, ou indiquez un autre dossier "
        "par LEXGRAPH_HOME"
    ),
    "{path}: written by an older Lexgraph (schema {versions}): run `lexgraph migrate`": (
        "{path} : écrit par un Lexgraph plus ancien (schema {versions}) : lancez `lexgraph migrate`"
    ),
    "the buffer pool of the embedded graph is too small for this: raise LEXGRAPH_MEMORY_MB": (
        "la mémoire tampon du graphe embarqué est trop petite pour cela : augmentez LEXGRAPH_MEMORY_MB"
    ),
    "model {id} is named in the graph, but {folder} is missing: run `lexgraph train`": (
        "le graphe nomme le modèle {id}, mais {folder} manque : lancez `lexgraph train`"
    ),
    "model {id} is neither under {home} nor at {shelf}: run `lexgraph train`": (
        "le modèle {id} n'est ni dans {home} ni à {shelf} : lancez `lexgraph train`"
    ),
    "model files at {shelf} cannot be read: {reason}": "les fichiers de modèles à {shelf} ne peuvent être lus : {reason}",
}
