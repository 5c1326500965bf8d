"""The tiny law with an article that had another text before, of which the source gives the dates alone."""

from pathlib import Path

from tests.support.tiny_law import Json, article, bakers, millers, write_law

_DAY_MS = 86_400_000


def dated(node: Json, *others: tuple[int, int, int]) -> Json:
    """An article with other wordings: serial, first day and end."""
    node["data"]["articleVersions"] += [
        {"id": f"LEGIARTI{serial:012}", "etat": "MODIFIE", "dateDebut": start * _DAY_MS, "dateFin": end * _DAY_MS}
        for serial, start, end in others
    ]
    return node


def write_dated_law(folder: Path) -> Path:
    """Write the bakers' and the millers' codes; L2 of the millers had another text from 1970 to 2000."""
    text = "<p>Le moulin est contrôlé chaque année par un inspecteur.</p>"
    root = millers()
    root["children"][0]["children"][1] = dated(article(22, "L2", text, first_day=10_957), (220, 0, 10_957))
    return write_law(folder, bakers(), root)
