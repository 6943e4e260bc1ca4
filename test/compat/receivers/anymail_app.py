"""A Django app with Anymail's inbound webhooks and nothing else. It writes each mail it receives as one JSON line.

RECORDS=records.jsonl python3 anymail_app.py PORT
"""
import hashlib
import json
import os
import sys
import warnings
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    SECRET_KEY=os.urandom(16).hex(),
    USE_TZ=True,
    INSTALLED_APPS=["anymail"],
    LOGGING={"version": 1, "handlers": {"e": {"class": "logging.StreamHandler"}},
             "loggers": {"django.request": {"handlers": ["e"], "level": "ERROR"}}},
    ANYMAIL={
        "WEBHOOK_SECRET": os.environ["WEBHOOK_SECRET"],
        "MAILGUN_WEBHOOK_SIGNING_KEY": os.environ["MAILGUN_SIGNING_KEY"],
        "MANDRILL_API_KEY": "none",
        "MANDRILL_WEBHOOK_KEY": os.environ["MANDRILL_WEBHOOK_KEY"],
    },
)
warnings.simplefilter("ignore")
django.setup()

from anymail.signals import inbound  # noqa: E402
from anymail.webhooks.mailgun import MailgunInboundWebhookView  # noqa: E402
from anymail.webhooks.mandrill import MandrillCombinedWebhookView  # noqa: E402
from anymail.webhooks.postmark import PostmarkInboundWebhookView  # noqa: E402
from anymail.webhooks.sendgrid import SendGridInboundWebhookView  # noqa: E402
from anymail.webhooks.sparkpost import SparkPostInboundWebhookView  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import path  # noqa: E402


def by_signature(view):
    """The view as in an app without WEBHOOK_SECRET: the signature is its only check."""
    def __init__(self, **kwargs):
        view.__init__(self, **kwargs)
        self.basic_auth = []
    return type(view.__name__, (view,), {"__init__": __init__})


urlpatterns = [
    path("anymail/postmark/inbound/", PostmarkInboundWebhookView.as_view()),
    path("anymail/sendgrid/inbound/", SendGridInboundWebhookView.as_view()),
    path("anymail/mailgun/inbound/", by_signature(MailgunInboundWebhookView).as_view()),
    path("anymail/mailgun/inbound_mime", by_signature(MailgunInboundWebhookView).as_view()),
    path("anymail/sparkpost/inbound/", SparkPostInboundWebhookView.as_view()),
    path("anymail/mandrill/", by_signature(MandrillCombinedWebhookView).as_view()),
]


def addresses(mail, field):
    """Anymail 9 fails on an empty field, such as it makes of Postmark's empty list."""
    return [one.addr_spec for one in getattr(mail, field)] if mail[field] else []


def attachment(part):
    content = part.get_content_bytes()
    return {
        "filename": part.get_filename(), "content_type": part.get_content_type(),
        "content_id": (part["Content-ID"] or "").strip("<>") or None,
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def record(sender, event, esp_name, **_):
    mail = event.message
    written = {
        "from": [mail.from_email.addr_spec] if mail.from_email else [],
        "to": addresses(mail, "to"), "cc": addresses(mail, "cc"),
        "subject": mail.subject, "message_id": (mail["Message-ID"] or "").strip("<>") or None,
        "text": mail.text, "html": mail.html,
        "attachments": [attachment(part) for part in [*mail.attachments, *mail.inline_attachments.values()]],
        "recipient": mail.envelope_recipient, "sender": mail.envelope_sender, "recipients": [],
        "spam_score": mail.spam_score,
    }
    with open(os.environ["RECORDS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(written) + "\n")


inbound.connect(record)


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


if __name__ == "__main__":
    make_server("127.0.0.1", int(sys.argv[1]), get_wsgi_application(), Server, Quiet).serve_forever()
