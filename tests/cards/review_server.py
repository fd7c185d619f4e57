"""The review application on a release of the sample's kind, for tests: started in a thread, asked over HTTP."""

import json
import re
import threading
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager

from releases import config, write

from discoprobe.cards.review import Reader, server


def small_release(folder):
    """Two languages, two tasks; Arabic texts are written from right to left, and one text is hostile."""

    def texts(rows):
        hostile = "<script>document.title='taken'</script> & \"quotes\""
        return [row | {"sentence1": f"جملة {n}" if n else hostile} for n, row in enumerate(rows)]

    return write(
        folder, config("bso", "de"), config("so", "de"),
        config("bso", "ar", change=texts, splits=("train", "validation", "test")),
    )  # fmt: skip


@contextmanager
def reviewing(release, **options):
    made, address = server(release, **{"reader": Reader("ana")} | options)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        yield App(*address.split("/?key="))
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments):
        return None


class App:
    """The application as a client sees it: ``get`` and ``post`` give status, headers and text."""

    def __init__(self, address, key=""):
        self.address, self.key = address, key
        self._open = urllib.request.build_opener(_Stay).open

    @property
    def cookie(self):
        """The cookie with the key, as a browser has it once it has opened the address that is printed."""
        return {"name": f"key-{self.address.rpartition(':')[2]}", "value": self.key, "url": self.address}

    def ask(self, path, data=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.key:
            own = f"{self.cookie['name']}={self.key}"
            headers["Cookie"] = "; ".join(filter(None, (headers.get("Cookie"), own)))
        request = urllib.request.Request(self.address + path, data, headers)
        try:
            with self._open(request) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def get(self, path, **headers):
        return self.ask(path, **headers)

    def token(self):
        return re.search(r'data-token="([^"]+)"', self.get("/")[2])[1]

    def post(self, path, values, **headers):
        return self.ask(path, urllib.parse.urlencode(values).encode(), **headers)

    def post_json(self, path, values, **headers):
        status, _, text = self.ask(path, json.dumps(values).encode(), Content_Type="application/json", **headers)
        return status, json.loads(text)
