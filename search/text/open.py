"""The text server that the settings name."""

from typing import TYPE_CHECKING

from schema.errors import MissingExtra
from schema.settings import Settings

if TYPE_CHECKING:
    from search.text.elasticsearch import ElasticText


def text_server(settings: Settings) -> "ElasticText | None":
    """Return the server that the settings name for the text index, which is not asked yet; None for the embedded index.

    Raises:
        MissingExtra: its client is not installed.
        BadSetting: the address is none.
    """
    if not settings.text:
        return None
    try:
        from search.text.elasticsearch import ElasticText
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("elasticsearch", "elastic_transport"):
            raise
        raise MissingExtra(f"text {settings.text} needs the extra `servers`: pip install 'lexgraph[servers]'") from None
    return ElasticText(settings)
