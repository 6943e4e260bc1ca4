"""Receives the webhooks of Inlet: verifies, deduplicates and prints them. Python 3.9 or later, nothing else.

INLET_WEBHOOK_SECRET=whsec_… python3 receiver.py 4000
"""

import hashlib
import hmac
import json
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("INLET_WEBHOOK_SECRET", "").encode()
# Anybody could sign with an empty secret.
if not SECRET.startswith(b"whsec_"):
    sys.exit("Set INLET_WEBHOOK_SECRET to the signing secret, which begins with whsec_")

# A program with a database keeps these there, in the transaction that does the work.
seen = set()


class Rejected(Exception):
    """Why a request must be refused."""


def verify(headers, body):
    """The event of a request, from its headers and its bytes as they came."""
    timestamp = headers.get("X-Service-Timestamp", "")
    signatures = [
        headers[name]
        for name in ("X-Service-Signature", "X-Service-Signature-Previous")
        if headers.get(name) is not None
    ]
    if not signatures or not re.fullmatch(r"[0-9]{1,15}", timestamp):
        raise Rejected("the signature is missing")
    if abs(time.time() - int(timestamp)) > 300:
        raise Rejected("signed more than 300 seconds from this clock")
    tag = hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    expected = f"t={timestamp},v1={tag}"
    # For a day after the secret was rotated there are two, and one of them has to match.
    if not any(hmac.compare_digest(expected.encode(), given.encode()) for given in signatures):
        raise Rejected("the signature does not match")
    event = json.loads(body)
    if event["event_id"] != headers.get("X-Service-Event-Id"):
        raise Rejected("the event is another than the headers say")
    return event


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,9}", length):
            return self.answer(411, {"error": "the length is missing"})
        body = self.rfile.read(int(length))
        try:
            event = verify(self.headers, body)
        except Rejected as why:
            return self.answer(401, {"error": str(why)})
        # Deliveries come at least once.
        if event["event_id"] not in seen:
            seen.add(event["event_id"])
            code = (event.get("extracted") or {}).get("code")
            print(f"{event['recipient']}: {event['subject']}, code {code and code['value']}", flush=True)
        self.answer(200, {"ok": True})

    def answer(self, status, content):
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1])
    print(f"Listening on port {port}", flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), Receiver).serve_forever()
