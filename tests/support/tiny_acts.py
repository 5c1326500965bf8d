"""Four directives and the national acts that transpose them, in the project's own words."""

import json
from pathlib import Path

SUBJECTS = {
    "pain": "la fabrication du pain au levain et la farine de blé des boulangers",
    "moulin": "le contrôle des moulins à eau et la meule des meuniers",
    "miel": "la récolte du miel et les ruches des apiculteurs",
    "vin": "la vendange du raisin et les tonneaux des vignerons",
}


def write_acts(folder: Path, *, transposes: bool = True, number: str = "96/9/CE") -> Path:
    """Four directives and the national act for each, eight years younger; with or without the known edges."""
    (folder / "lu").mkdir(parents=True)
    lines: list[str] = []
    for n, (name, subject) in enumerate(SUBJECTS.items()):
        provisions = [
            {"type": "article", "num": "Article premier", "heading": "Objet", "text": f"La présente directive régit {subject}."},
            {"type": "article", "num": "Article 2", "heading": "", "text": "Les États membres veillent au respect."},
        ]
        lines.append(json.dumps({"celex": f"3200{n}L0001", "title": f"Directive 200{n}/1/EC", "provisions": provisions}))
        edge = f'transposes: ["http://data.europa.eu/eli/dir/200{n}/1"]\n' if transposes else ""
        (folder / "lu" / f"{name}.md").write_text(
            f'---\ntitle: "Loi transposant la directive {number} sur {subject}"\nidentifier: leg-{name}\ncountry: lu\n'
            f"rank: loi\npublication_date: 200{n + 4}-07-01\n{edge}---\n\n# Loi\n\n###### Art. 1er.\n\n"
            f"La présente loi s'applique à {subject}. Le Mémorial la publie.\n",
            "utf-8",
        )
    (folder / "eu_acts.jsonl").write_text("\n".join(lines), "utf-8")
    return folder
