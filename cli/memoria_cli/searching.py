"""`memoria search` for a terminal, which obeys some characters: what somebody wrote reaches it without them."""

from html import unescape
from typing import Any
from unicodedata import category

from rich.console import Console
from rich.text import Text


def show(console: Console, found: dict[str, Any]) -> None:
    """Notices, then results, as the page has them."""
    for notice in found["notices"]:
        console.print(Text(harmless(notice["text"]), style="yellow"))
    for result in found["results"]:
        place = " › ".join([result["app"], *result["trail"]])
        console.print(Text.assemble((f"{result['rank']}. ", "dim"), (harmless(result["title"]), "bold")))
        console.print(Text(harmless(place) + (f" · {result['date']}" if result["date"] else ""), style="dim"))
        if result["state"] == "spoken":
            console.print(_marked(result["snippet"]))
        else:
            console.print(Text("its text cannot be had right now", style="italic"))
        console.print(Text(harmless(result["link"]), style="dim"), soft_wrap=True)
        console.print()
    if not found["results"] and any(notice["count"] for notice in found["notices"]):
        console.print("Nothing to show: what was found is withheld for the reasons above.")
    elif not found["results"] and found["notices"]:
        console.print("Nothing was found in what could be searched; what is left out or behind is named above.")
    elif not found["results"]:
        console.print("Nothing matched these words among the best results that you may see.")
    if found["more"]:
        console.print(Text(f"more: --page {found['page'] + 1}", style="dim"))


def harmless(text: str) -> str:
    """The text without control characters, lines and tabs excepted: an escape sequence is shown and not obeyed."""
    return "".join("\ufffd" if category(char) == "Cc" and char not in "\n\t" else char for char in text)


def _marked(snippet: str) -> Text:
    text = Text()
    for number, run in enumerate(snippet.replace("</mark>", "<mark>").split("<mark>")):
        text.append(harmless(unescape(run)), style="bold green" if number % 2 else "")
    return text
