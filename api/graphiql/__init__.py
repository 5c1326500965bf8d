"""GraphiQL, the editor of queries in a browser: its page, and its files from npm, which are fetched once and served from here."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route, Router

_OWN = Path(__file__).parent
_FOLDER = "graphiql"
FILES = {
    ("graphiql", "3.9.0"): ("graphiql.min.js", "graphiql.min.css"),
    ("react", "18.3.1"): ("umd/react.production.min.js",),
    ("react-dom", "18.3.1"): ("umd/react-dom.production.min.js",),
}
"""Packages on npm, with the files of each that the page loads."""
_KEPT_S = 86_400


def editor_folder(home: Path) -> Path:
    """Return the folder of the editor's files."""
    return home / _FOLDER


def ide_page(home: Path) -> Response:
    """Return the page of the editor, or a plain one where its files were not fetched."""
    whole = all((editor_folder(home) / Path(file).name).is_file() for files in FILES.values() for file in files)
    return FileResponse(
        _OWN / ("index.html" if whole else "missing.html"), headers={"vary": "Accept", "cache-control": "no-cache"}
    )


def ide_files(home: Path) -> Router:
    """Return the routes of the files that the page loads: those of npm, and this project's own."""
    places = {Path(file).name: editor_folder(home) for files in FILES.values() for file in files}
    places |= dict.fromkeys(("page.css", "start.js", "plain.js"), _OWN)

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        place = places.get(name)
        if place is None or not (place / name).is_file():
            return Response("no such file\n", 404, media_type="text/plain")
        return FileResponse(place / name, headers={"cache-control": f"max-age={_KEPT_S}"})

    return Router([Route("/{name}", file)])
