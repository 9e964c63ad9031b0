"""A server on this machine that answers as a model hub does, errors included."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class FakeHub:
    """Serves folders as repositories.

    Args:
        repositories: Folder of each repository, by owner/name.
        refusals: Status and error code for the files of a repository, as gated ones are refused.
        failures: Status for anything about a repository.
    """

    def __init__(
        self,
        repositories: Mapping[str, Path],
        refusals: Mapping[str, tuple[int, str]] | None = None,
        failures: Mapping[str, int] | None = None,
    ) -> None:
        self.repositories = repositories
        self.refusals = refusals or {}
        self.failures = failures or {}
        self.fetched: list[str] = []  # paths of the files that were sent

    @contextmanager
    def running(self) -> Iterator[str]:
        """The hub's address, while it runs."""
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._answer(with_body=False)

            def do_GET(self) -> None:
                self._answer(with_body=True)

            def _answer(self, with_body: bool) -> None:
                parts = self.path.partition("?")[0].strip("/").split("/")
                is_api = parts[:2] == ["api", "models"]
                parts = parts[2:] if is_api else parts
                repository, rest = "/".join(parts[:2]), parts[2:]
                if repository in hub.failures:
                    self._send(hub.failures[repository], b"", with_body)
                elif repository not in hub.repositories:
                    # As the hub does for someone without a token, who may not learn what exists.
                    self._send(401, b"", with_body, {"X-Error-Code": "RepoNotFound"})
                elif is_api:
                    self._send(
                        200, hub.facts(repository, rest), with_body, {"Content-Type": "application/json"}
                    )
                elif repository in hub.refusals:
                    status, code = hub.refusals[repository]
                    self._send(status, b"", with_body, {"X-Error-Code": code})
                else:
                    self._send_file(hub.repositories[repository] / "/".join(rest[2:]), with_body)

            def _send_file(self, path: Path, with_body: bool) -> None:
                if not path.is_file():
                    self._send(404, b"", with_body, {"X-Error-Code": "EntryNotFound"})
                    return
                data = path.read_bytes()
                if with_body:
                    hub.fetched.append(self.path.strip("/"))
                etag = hashlib.sha256(data).hexdigest()
                self._send(200, data, with_body, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT})

            def _send(
                self, status: int, body: bytes, with_body: bool, headers: Mapping[str, str] | None = None
            ) -> None:
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if with_body:
                    self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def facts(self, repository: str, rest: list[str]) -> bytes:
        """What the API says about a repository, or its files for `tree`."""
        paths = sorted(path for path in self.repositories[repository].rglob("*") if path.is_file())
        names = [path.relative_to(self.repositories[repository]).as_posix() for path in paths]
        if rest[:1] == ["tree"]:
            files = zip(paths, names, strict=True)
            listing = [
                {
                    "type": "file",
                    "path": name,
                    "size": path.stat().st_size,
                    "oid": hashlib.sha1(path.read_bytes()).hexdigest(),
                }
                for path, name in files
            ]
            return json.dumps(listing).encode()
        about = {
            "id": repository,
            "modelId": repository,
            "sha": COMMIT,
            "private": False,
            "tags": [],
            "downloads": 0,
        }
        return json.dumps(about | {"siblings": [{"rfilename": name} for name in names]}).encode()
