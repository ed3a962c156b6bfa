"""Files people already have → servers to watch: client configurations, registry entries, plain lists of URLs.

Nothing is fetched or run. What cannot be watched is reported entry by entry, with the reason. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from driftwatch.errors import InputError
from driftwatch.safe_text import safe_text
from driftwatch.servers.credential import Bearer, Credential, of_fields, secret_fields
from driftwatch.servers.model import ServerSpec

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_ENTRIES: Final = 2000

#: where clients keep a remote server's address
_URL_KEYS: Final = ("url", "serverUrl", "httpUrl")
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}|\{[A-Za-z_][\w-]*\}|<[A-Za-z_][\w -]*>")


class UnreadableImportError(InputError):
    """The file as a whole is nothing we know how to import."""

    code = "unreadable-import"


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """One entry of a file: a server to register, or the reason why not. ``label`` is safe to show."""

    label: str
    spec: ServerSpec | None = None
    problem: str | None = None


def parse_import(data: bytes) -> list[ImportEntry]:
    """Every entry of the file, in order. Raises UnreadableImportError when the file as a whole is of no use."""
    if len(data) > MAX_BYTES:
        raise UnreadableImportError(f"The file is larger than {MAX_BYTES // 2**20} MiB.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableImportError("The file is not UTF-8 text.") from None
    entries = _json_entries(_json(text)) if text.lstrip()[:1] in {"{", "["} else _lines(text)
    found: list[ImportEntry] = []
    for entry in entries:
        if len(found) == MAX_ENTRIES:
            raise UnreadableImportError(f"The file has more than {MAX_ENTRIES} entries.")
        found.append(entry)
    if not found:
        raise UnreadableImportError("The file names no server.", hint=_KNOWN)
    return found


_KNOWN = 'Known: {"mcpServers": …}, {"servers": …}, a registry server.json, a JSON list, one URL a line.'


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UnreadableImportError(f"The file is not valid JSON: {error}") from None
    except RecursionError:
        raise UnreadableImportError("The file is nested too deeply.") from None


def _lines(text: str) -> Iterator[ImportEntry]:
    for line in text.splitlines():
        url = line.strip()
        if url and not url.startswith("#"):
            yield ImportEntry(_label(url), ServerSpec(url=url))


def _json_entries(document: Any) -> Iterator[ImportEntry]:
    if isinstance(document, list):
        for position, item in enumerate(document, start=1):
            yield from _listed(item, f"entry {position}")
        return
    if isinstance(document.get("mcp"), dict):  # an editor's settings file
        document = document["mcp"]
    for key in ("mcpServers", "servers"):
        servers = document.get(key)
        if isinstance(servers, dict):
            for name, item in servers.items():
                yield _configured(name, item)
            return
        if isinstance(servers, list):
            yield from _json_entries(servers)
            return
    yield from _listed(document, "the file")


def _listed(item: Any, place: str) -> Iterator[ImportEntry]:
    """An element of a list: a URL, a registry entry (perhaps in its envelope), or a server with its own name."""
    if isinstance(item, str):
        yield ImportEntry(_label(item), ServerSpec(url=item))
    elif not isinstance(item, dict):
        yield ImportEntry(place, problem="is neither a URL nor an object")
    elif isinstance(item.get("server"), dict):
        yield from _registry(item["server"], place)
    elif "remotes" in item or "packages" in item:
        yield from _registry(item, place)
    else:
        yield _configured(item.get("name"), item, place)


def _configured(name: Any, item: Any, place: str = "an entry") -> ImportEntry:
    """An entry of a client configuration."""
    label = _label(name) if isinstance(name, str) else place
    if not isinstance(item, dict):
        return ImportEntry(label, problem="is not an object")
    url = next((item[key] for key in _URL_KEYS if item.get(key)), None)
    if url is None:
        stdio = "command" in item or item.get("type") == "stdio"
        reason = "runs as a local program (stdio); only servers with a URL can be watched" if stdio else "has no url"
        return ImportEntry(label, problem=reason)
    headers = item.get("headers") or {}
    try:
        credential = _credential(item)
    except ValueError as error:
        return ImportEntry(label, problem=f"its credential cannot be used: {_label(str(error))}")
    return _entry(label, name if isinstance(name, str) else None, url, headers, credential)


def _credential(item: Mapping[str, Any]) -> Credential | None:
    """What an entry carries besides headers: a token, as several clients spell it, or a credential of our own API.

    Raises ValueError with words for one that only a person or a browser could complete.
    """
    given = item.get("credential")
    if isinstance(given, dict):
        fields = {str(key): value for key, value in given.items()}
        return of_fields(str(fields.pop("kind", "")), fields)
    for key in ("authorization_token", "bearerToken", "auth"):
        written = item.get(key)
        if isinstance(written, str) and written and written != "oauth":
            return Bearer(written.removeprefix("Bearer "))
    if item.get("auth") or item.get("oauth"):
        raise ValueError("its OAuth names no issuer, or wants a browser; register it by hand.")
    return None


def _registry(server: Mapping[str, Any], place: str) -> Iterator[ImportEntry]:
    """A registry's server.json: one entry per remote."""
    name = server.get("name")
    label = _label(name) if isinstance(name, str) else place
    remotes = server.get("remotes")
    if not isinstance(remotes, list) or not remotes:
        yield ImportEntry(label, problem="has no remotes; only servers with a URL can be watched")
        return
    for position, remote in enumerate(remotes, start=1):
        numbered = label if position == 1 else f"{label}-{position}"
        if not isinstance(remote, dict) or not remote.get("url"):
            yield ImportEntry(numbered, problem="a remote without url")
            continue
        given, missing = _registry_headers(remote.get("headers"))
        if missing:
            yield ImportEntry(numbered, problem=f"needs a value for the header {_label(missing)}; register it by hand")
            continue
        yield _entry(numbered, numbered if isinstance(name, str) else None, remote["url"], given)


def _registry_headers(headers: Any) -> tuple[dict[str, Any], str | None]:
    """The headers that have a value, and the name of a required one that has none."""
    given: dict[str, Any] = {}
    for header in headers if isinstance(headers, list) else []:
        if not isinstance(header, dict) or not isinstance(header.get("name"), str):
            continue
        value = header.get("value") or header.get("default")
        if value:
            given[header["name"]] = value
        elif header.get("isRequired") or header.get("is_required"):
            return given, header["name"]
    return given, None


def _entry(label: str, name: str | None, url: Any, headers: Any, credential: Credential | None = None) -> ImportEntry:
    if not isinstance(url, str):
        return ImportEntry(label, problem="its url is not text")
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        return ImportEntry(label, problem="its headers are not names with text values")
    secret = {} if credential is None else secret_fields(credential)
    texts = [("url", url), *((f"header {_label(key)}", value) for key, value in headers.items())]
    texts += [("credential", value) for value in secret.values() if isinstance(value, str)]
    for where, text in texts:
        if placeholder := _PLACEHOLDER.search(text):
            return ImportEntry(label, problem=f"its {where} holds a placeholder: {_label(placeholder[0])}")
    return ImportEntry(label, ServerSpec(url=url, name=name, headers=headers, credential=credential))


def _label(text: str) -> str:
    return safe_text(text, keep_newlines=False)[:200]
