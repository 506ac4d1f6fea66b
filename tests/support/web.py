"""A web server of the files in a folder that does what web servers may do."""

import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """What the server does, and what it was asked.

    Attributes
    ----------
    ranges
        Whether it sends byte ranges.
    status
        An error that it answers with, or None.
    breaks
        How many of the next answers end in the middle.
    asked
        The method, the path and the range of each request.
    """

    def __init__(self, folder):
        self.folder, self.ranges, self.status, self.breaks, self.asked = folder, True, None, 0, []
        self.url = ""


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, site, *args):
        self.site = site
        super().__init__(*args, directory=str(site.folder))

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.site.asked.append(("HEAD", self.path, None))
        if self.site.status is not None:
            self.send_error(self.site.status)
        else:
            super().do_HEAD()

    def do_GET(self):
        site, asked = self.site, self.headers.get("Range")
        site.asked.append(("GET", self.path, asked))
        path = site.folder / self.path.partition("?")[0].lstrip("/")
        if site.status is not None:
            self.send_error(site.status)
        elif not path.is_file():
            super().do_GET()
        else:
            self._send(path.read_bytes(), asked if site.ranges else None)

    def _send(self, data, asked):
        whole = len(data)
        if asked is None:
            self.send_response(200)
        else:
            first, last = asked.removeprefix("bytes=").split("-")
            start, end = int(first), min(int(last) + 1, whole)
            data = data[start:end]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{whole}")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.site.breaks:
            self.site.breaks -= 1
            data = data[: len(data) // 2]
            self.close_connection = True
        self.wfile.write(data)


@contextmanager
def site_of(folder):
    """Serve a folder during the block."""
    site = Site(folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, site)) as server:
        site.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
