"""Codes with the titles and numbers of real ones, and two acts of the Union, in the project's own words: law to look up in."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.support.tiny_law import Json, article, code, section, write_law

CODES: dict[str, tuple[str, str, dict[str, str]]] = {
    "CT": (
        "LEGITEXT000000000010",
        "Code du travail",
        {
            "L1152-1": "Nul salarié ne subit d'agissements répétés de harcèlement moral.",
            "L1152-2": "Nul n'est sanctionné pour avoir relaté un harcèlement moral au sens de l'article L. 1152-1.",
            "L1152-3": "La rupture du contrat contraire aux articles L. 1152-1 et L. 1152-2 est nulle.",
            "L1152-4": "L'employeur prévient le harcèlement moral.",
            "L1225-4": "Le contrat de la salariée enceinte n'est pas rompu pendant la grossesse.",
            "L1225-5": "Le licenciement est annulé si la salariée envoie un certificat de grossesse.",
            "L1225-47": "Pendant le congé parental d'éducation, le salarié suspend son contrat ou réduit son temps de travail.",
            "L1225-48": "Le congé parental a une durée initiale d'un an au plus.",
            "R1225-4": "Le certificat de grossesse est envoyé par lettre recommandée.",
            "L411-1": "Un syndicat défend les droits de ses membres.",
            "D1234-7": "Le montant est fixé par arrêté.",
        },
    ),
    "CSS": (
        "LEGITEXT000000000020",
        "Code de la sécurité sociale",
        {
            "L411-1": "Est un accident du travail celui qui survient par le fait du travail.",
            "L411-2": "L'accident de trajet en est un aussi.",
            "L521-1": "Les allocations familiales sont dues à partir du deuxième enfant.",
            "L521-2": "Les allocations sont versées à qui assume la charge de l'enfant.",
            "R*123-1": "Le conseil siège à Paris.",
        },
    ),
    "CRPM": (
        "LEGITEXT000000000030",
        "Code rural et de la pêche maritime",
        {
            "L411-1": "Le bail rural est régi par le présent titre.",
            "L411-2": "Le fermage est fixé en monnaie.",
            "L411-3": "La parcelle de faible étendue peut être exclue.",
        },
    ),
    "CRPA": (
        "LEGITEXT000000000040",
        "Code des relations entre le public et l'administration",
        {
            "L100-1": "Le présent code régit les relations du public avec l'administration.",
            "L211-2": "Les décisions individuelles défavorables sont motivées.",
        },
    ),
}
UNION = {
    "32016L0680": ("Directive (UE) 2016/680 relative à la protection des données en matière pénale", range(1, 9)),
    "32016R0679": ("Règlement (UE) 2016/679, règlement général sur la protection des données", range(1, 12)),
}


def act(name: str) -> str:
    """Return the identifier of a code by its abbreviation, or of an act of the Union by its CELEX number."""
    return f"fr/{CODES[name][0]}" if name in CODES else f"eu/{name}"


def ids(*names: str) -> list[str]:
    """Return identifiers of articles from "CT L1152-1" or "32016L0680 5"."""
    return [f"{act(name.split(' ')[0])}/{name.split(' ')[1]}" for name in names]


def write_codes(folder: Path) -> Sequence[Path]:
    """Write the codes and the acts; return the folders to read."""
    roots: list[Json] = []
    for place, (source, title, articles) in enumerate(CODES.values(), 1):
        nodes = [article(100 * place + n, number, f"<p>{text}</p>") for n, (number, text) in enumerate(articles.items())]
        book = section(10 * place + 1, "Livre Ier : Du droit", *nodes)
        roots.append(code(source, title, section(10 * place, "Partie législative", book)))
    write_law(folder / "codes", *roots)
    lines: list[str] = []
    for celex, (title, numbers) in UNION.items():
        provisions = [
            {"type": "article", "num": f"Article {n}", "heading": "", "text": f"Les États membres appliquent la règle {n}."}
            for n in numbers
        ]
        lines.append(json.dumps({"celex": celex, "title": title, "provisions": provisions}))
    (folder / "union").mkdir()
    (folder / "union" / "eu_acts.jsonl").write_text("\n".join(lines), "utf-8")
    return folder / "codes", folder / "union"
