/** A promise of docs/guarantees.md and the tests that fail when it does not hold, as file and title. */
export interface Proof {
  readonly promise: string
  readonly tests: ReadonlyArray<readonly [file: string, title: string]>
}

/** In the order of docs/guarantees.md. `promise` is the bold sentence there, without code marks and its full stop. */
export const proofs: ReadonlyArray<Proof> = [
  {
    promise: "Inlet never loses a mail that it answered 250",
    tests: [
      ["test/flows/prove.postgres.test.ts", "while the service is killed at random with kill -9"],
      ["test/flows/prove.postgres.test.ts", "while PostgreSQL is restarted at random with -m immediate"],
      ["test/flows/prove.postgres.test.ts", "while PostgreSQL is stopped for longer than any answer may take"],
      ["test/flows/prove.postgres.test.ts", "while the disk of the raw messages is full"],
      ["test/flows/prove.postgres.test.ts", "when one of two processes is killed for good"],
      [
        "test/flows/scaled.postgres.test.ts",
        "lose no mail and double none when one is killed with -9 in the middle of them"
      ],
      ["test/flows/bucket.test.ts", "loses nothing of what it answered 250, through a kill -9 too"],
      [
        "test/providers/storage/SegmentLog.test.ts",
        "in the middle of a write leaves a torn tail that no row names: it is never read, nor written behind"
      ],
      [
        "test/flows/crash-points.postgres.test.ts",
        "between the sync and the row leaves bytes without a row, and the mail that is sent again is a new one"
      ],
      [
        "test/flows/crash-points.postgres.test.ts",
        "between the row and the 250 makes one event, of the bytes that were kept first, when the sender comes back"
      ],
      [
        "test/flows/crash.test.ts",
        "in the middle of a burst loses nothing that was accepted, and makes up nothing that was not sent"
      ],
      ["test/reading/Reader.test.ts", "reads what a crash has left over, and it is delivered"],
      [
        "test/flows/power.embedded.test.ts",
        "takes no mail that was answered 250, in the middle, behind a stop or behind a start after kill -9: bytes, log and 250 are synced in this order"
      ],
      [
        "test/flows/power.embedded.test.ts",
        "takes none that is in a bucket: the answer of the bucket, the log and the 250 follow in this order"
      ],
      [
        "test/flows/power.postgres.test.ts",
        "takes no mail that was answered 250, in the middle, behind a stop or behind a start after kill -9: bytes, log and 250 are synced in this order"
      ],
      [
        "test/database/WirePglite.test.ts",
        "never says again that it has committed once a file could not be synced, and has what was committed before"
      ],
      [
        "test/database/EmbeddedDatabase.test.ts",
        "fails the statement that was under way, is opened again, and has what was committed"
      ],
      [
        "test/database/EmbeddedDatabase.test.ts",
        "begins again at a checkpoint when it has grown enough, and not only at a stop"
      ]
    ]
  },
  {
    promise: "Inlet refuses mail that it cannot store",
    tests: [
      ["test/intake/Failures.test.ts", "because the raw store fails, the sender hears 451, and the next one is kept"],
      ["test/intake/Failures.test.ts", "for one of two workspaces, it is kept for neither"],
      [
        "test/providers/storage/RawStoreS3.test.ts",
        "keeps nothing of an upload that was damaged on its way, and takes it whole the next time"
      ],
      ["test/flows/bucket.test.ts", "a mail whose bucket hangs once is answered 250 by the second try"],
      [
        "test/intake/Outage.postgres.test.ts",
        "never gets the statement, no row is found, and the sender hears 451 within ten seconds"
      ],
      [
        "test/intake/Outage.postgres.test.ts",
        "hangs, the sender hears 451 within ten seconds, and mail is taken again once it answers"
      ],
      [
        "test/providers/storage/SegmentLog.test.ts",
        "keeps nothing of messages that the disk has no room for, and goes on behind the last whole one"
      ],
      [
        "test/providers/storage/SegmentLog.test.ts",
        "never syncs a file again that could not be synced: its messages are not kept, the next are elsewhere"
      ],
      [
        "test/providers/storage/SegmentLog.test.ts",
        "keeps nothing in a segment that was removed or moved away, and begins another"
      ],
      [
        "test/flows/outage.postgres.test.ts",
        "answers 503 and 451 in time while PostgreSQL is stopped where it stands, and goes on when it does"
      ]
    ]
  },
  {
    promise: "A simulated mail goes the same way as a real one",
    tests: [
      [
        "test/http/Simulate.test.ts",
        "is the event that the same bytes are over SMTP, but for ids, times and the envelope"
      ],
      ["test/http/Simulate.test.ts", "is one mail when its bytes come again, or the request under its Idempotency-Key"],
      ["test/http/Simulate.test.ts", "has the verdicts that were given with it also when another reader takes it over"],
      [
        "test/http/Simulate.test.ts",
        "counts on the day of its workspace and on no client address, and is 429 until midnight when the day is full"
      ]
    ]
  },
  {
    promise: "A sender's retry makes no second event",
    tests: [
      [
        "test/intake/Deduplication.test.ts",
        "is answered 250, makes no second event, keeps no second copy, and does not count"
      ],
      ["test/intake/Deduplication.test.ts", "is recognised by both of two connections at once, and kept once"],
      ["test/intake/Deduplication.test.ts", "is another message when it has other bytes under the same Message-ID"],
      [
        "test/intake/Outage.postgres.test.ts",
        "commits and its answer is lost, the row is found, the sender hears 250, and one event follows"
      ],
      [
        "test/intake/Outage.postgres.test.ts",
        "commits a transaction and its answer is lost, the rows are found, the sender hears 250, and an event for each recipient follows"
      ],
      [
        "test/smtp/Message.test.ts",
        "is kept once when the connection breaks after the dot and the sender comes back with it"
      ]
    ]
  },
  {
    promise: "Every accepted mail becomes an event, however broken it is",
    tests: [
      [
        "test/flows/bombs.embedded.test.ts",
        "is answered 250 and becomes an event in time, whatever its shape, and nobody else has to wait"
      ],
      [
        "test/reading/Reader.test.ts",
        "does not parse a message that took two readers with it, and makes an event of its header"
      ],
      [
        "test/reading/Reader.test.ts",
        "goes on with the next message when one can't be read, and tries that one again after its lease"
      ],
      [
        "test/intake/Copies.test.ts",
        "starts with our Return-Path and Received, and is byte for byte what came behind them"
      ]
    ]
  },
  {
    promise: "An event is at most three times as large as its message, plus 1 MiB",
    tests: [
      ["test/reading/EventPayload.test.ts", "weighs at most three times the message and 1 MiB: %s"],
      ["test/reading/EventPayload.test.ts", "has no control character but TAB and LF, whatever names one"]
    ]
  },
  {
    promise: "Nobody can smuggle a second message into a mail",
    tests: [
      [
        "test/smtp/Message.test.ts",
        "ends at CRLF . CRLF and at nothing that looks like it, in one packet or byte by byte"
      ],
      [
        "test/smtp/DataStream.test.ts",
        "ends at CRLF . CRLF alone and loses the dots behind CRLF alone, in every form and wherever it is cut"
      ],
      [
        "test/smtp/StartTls.test.ts",
        "forgets what was said before it, and everything that was sent behind it in plain text"
      ]
    ]
  },
  {
    promise: "Extracted codes and links are visible in the mail",
    tests: [
      ["test/content/codes/Codes.test.ts", "is looked for neither in what is quoted nor in what is hidden"],
      ["test/content/codes/Codes.test.ts", "is never sure where there is none: %s"],
      ["test/content/codes/Codes.test.ts", "is unsure where two could be meant"],
      ["test/content/codes/Codes.test.ts", "is the same every time, whatever was read before"],
      ["test/content/CodesCorpus.test.ts", "have no code, and none is told that is sure"],
      [
        "test/content/codes/Links.test.ts",
        "are none of those at the foot, none that are quoted or hidden, and no images without words"
      ]
    ]
  },
  {
    promise: "Hidden words are not in text, reply and extracted",
    tests: [
      ["test/reading/EventPayload.test.ts", "has no word that a person does not see in text, reply and extracted: %s"],
      ["test/content/HiddenPairs.test.ts", "is nowhere where one is in the other"],
      ["test/content/HiddenPairs.test.ts", "is nowhere where one is beside the other"],
      [
        "test/content/reply/Reply.test.ts",
        "has no words that nobody sees where an element begins in a quotation, or ends in it: %s"
      ],
      [
        "test/content/reply/Reply.test.ts",
        "has no words that only styles in a quotation or behind it hide, nor those hidden beside one"
      ],
      ["test/content/html/Content.test.ts", "tells hidden words by name alone, and else how many there are"]
    ]
  },
  {
    promise: "The same bytes make the same payload",
    tests: [
      [
        "test/reading/SamePayload.test.ts",
        "give the same payload each of a hundred times, in whichever thread, and after a restart"
      ],
      [
        "test/http/Simulate.test.ts",
        "is the event that the same bytes are over SMTP, but for ids, times and the envelope"
      ]
    ]
  },
  {
    promise: "All kinds of senders get through",
    tests: [
      [
        "test/smtp/Connections.test.ts",
        "takes the mail of anybody else at once, and ends the idle ones within seconds"
      ],
      ["test/flows/relay.test.ts", "Mail of a foreign sender arrives as it was sent:"]
    ]
  },
  {
    promise: "Inlet delivers every event at least once",
    tests: [
      ["test/delivery/Retries.test.ts", "gives eleven attempts over about three days, then the delivery is dead"],
      [
        "test/flows/workers.postgres.test.ts",
        "four of them share 10,000 deliveries: each is made once, and no webhook has more than 64 at a time"
      ],
      [
        "test/flows/workers.postgres.test.ts",
        "make a delivery again, with the same event id, when they are killed before they write that it was taken"
      ],
      [
        "test/delivery/DeliveryLines.test.ts",
        "never have more than two turns of a domain sent and not written down, however long that takes"
      ],
      [
        "test/delivery/WebhookSigner.test.ts",
        "is made again on a retry with the same bytes, a later timestamp and a signature of its own"
      ],
      ["test/http/Replay.test.ts", "starts a fresh budget: what fails after it is tried again as from the first"],
      [
        "test/delivery/Pausing.test.ts",
        "keeps its mail pending, tries one, and sends the rest when that succeeds, 16 at a time"
      ]
    ]
  },
  {
    promise: "An app without a public address gets the same requests as a webhook",
    tests: [
      [
        "test/flows/listen.test.ts",
        "get each mail at least once, signed, as copies and as deliveries, while listeners and service are killed"
      ],
      [
        "test/http/SignedStream.test.ts",
        "brings each event as the request of its webhook, which is made as if nobody followed"
      ],
      [
        "test/http/SignedStream.test.ts",
        "signs when it is asked, with the secrets of that moment: during a rotation with both"
      ],
      ["test/cli/forward.test.ts", "posts what the app refuses again until it is taken, before any other, and says so"],
      ["test/cli/forward.test.ts", "goes on behind the last event that the app took, or where it is told to"]
    ]
  },
  {
    promise: "Pulled deliveries behave like webhook deliveries",
    tests: [
      [
        "test/flows/listen.test.ts",
        "get each mail at least once, signed, as copies and as deliveries, while listeners and service are killed"
      ],
      [
        "test/http/PullDeliveries.test.ts",
        "comes as the request of its webhook, and with the first 2xx it is delivered and the domain live"
      ],
      [
        "test/http/PullDeliveries.test.ts",
        "is tried again by the schedule of webhooks, dead after the last failure, and given out when replayed"
      ],
      ["test/http/PullDeliveries.test.ts", "is shared by those who ask, and nobody gets what another one holds"],
      [
        "test/http/PullDeliveries.test.ts",
        "is given out again when its lease is over, and a late outcome changes nothing"
      ],
      [
        "test/http/PullDeliveries.test.ts",
        "takes no outcome of an attempt that was not leased, nor of another domain's event"
      ],
      [
        "test/http/PullDeliveries.test.ts",
        "goes to a webhook once one is set, and what is under way then is told as before"
      ],
      [
        "test/http/PullDeliveries.test.ts",
        "is held while nobody is to ask for it, and an outcome of before still counts, once"
      ]
    ]
  },
  {
    promise: "A frozen worker cannot undo another worker's result",
    tests: [
      ["test/flows/processes.test.ts", "take over what a frozen one holds, and its late news change nothing"],
      [
        "test/delivery/DeliveryQueue.test.ts",
        "hands an expired lease to another worker, and lists the attempt whose worker died"
      ]
    ]
  },
  {
    promise: "Slow or dead webhooks do not delay other webhooks",
    tests: [
      [
        "test/delivery/DeliveryWorker.test.ts",
        "at 500 domains of 100 workspaces, delays no other tenant's mail, from the first one on"
      ],
      [
        "test/delivery/DeliveryLines.test.ts",
        "leave a place for the next workspace from the first second on, though 500 of 100 workspaces hang"
      ],
      ["test/delivery/DeliveryLines.test.ts", "take no place from a domain that answers at once"],
      ["test/delivery/Pace.test.ts", "is back at one place after a hang, whatever was answered before it"],
      ["test/delivery/DeliveryWorker.test.ts", "with hundreds of mails waiting, does not delay another domain's"],
      [
        "test/delivery/DeliveryLines.test.ts",
        "begin no more in all than may go at a time, and let every domain have its turn"
      ],
      ["test/delivery/WebhookSender.test.ts", "answers the others while some of its webhooks hang"]
    ]
  },
  {
    promise: "A receiver can detect a forged webhook request",
    tests: [
      ["test/delivery/WebhookSigner.test.ts", "is verified by other people's libraries, and by no other secret"],
      ["test/docs/readme.test.ts", "refuses what the specification says must be refused"]
    ]
  },
  {
    promise: "Nobody can use Inlet to flood a URL",
    tests: [
      [
        "test/workspaces/WorkspaceLimits.test.ts",
        "has so many replays, and hears when it may ask again; another workspace has its own"
      ],
      ["test/workspaces/WorkspaceLimits.test.ts", "has so many changes of its webhook, whatever becomes of them"],
      [
        "test/workspaces/WorkspaceLimits.test.ts",
        "has so many of each in all processes, and hears how long it is until midnight"
      ],
      ["test/delivery/Pausing.test.ts", "changes nothing when the URL of a webhook that is not paused is set again"],
      [
        "test/delivery/Pausing.test.ts",
        "is not paused by fewer than ten failures, nor by failures on fewer than three UTC days, whatever the clock says"
      ]
    ]
  },
  {
    promise: "Webhooks reach no private address in production",
    tests: [
      ["test/delivery/Egress.test.ts", "refuses a private address however it is written, and nobody is dialed"],
      ["test/delivery/Egress.test.ts", "refuses a name when any of its addresses is private, and does not say which"],
      ["test/delivery/Egress.test.ts", "dials the address that was looked at, and leaves Host as the URL has it"],
      ["test/delivery/WebhookSender.test.ts", "follows no redirect: body and signature go nowhere else"],
      [
        "test/delivery/EgressAlone.test.ts",
        "does not touch what its webhook's name has come to point at, says so, and delivers once it is allowed"
      ]
    ]
  },
  {
    promise: "A wait after a mark returns only new mail",
    tests: [
      [
        "test/http/HeldRequests.test.ts",
        "are for new mail alone after the mark of a list, of an empty one too, and after latest"
      ],
      [
        "test/http/HeldRequests.test.ts",
        "go on from the mark of a wait that ended empty, and miss nothing between the two"
      ],
      ["test/http/EventList.test.ts", "catches up with mail that comes all the while, and has each event once"]
    ]
  },
  {
    promise: "MCP tools can do less than the API",
    tests: [
      ["test/mcp/Mcp.test.ts", "opens the mail of its workspace alone"],
      ["test/mcp/Mcp.test.ts", "that reads waits and reads, and simulates nothing"],
      ["test/mcp/Mcp.test.ts", "that is replaced in the middle of a wait ends it with a sentence"],
      [
        "test/mcp/Mcp.test.ts",
        "takes one of the workspace's places, and gives it back when its client cancels or leaves"
      ],
      ["test/mcp/Mcp.test.ts", "is unknown to another key, whose requests cancel nothing in it"],
      ["test/mcp/Mcp.test.ts", "is told as what a person sees of it, with a notice, and that there was more"],
      ["test/mcp/Tokens.test.ts", "is at most 2,500 for any other answer by default, in the languages of mail"]
    ]
  },
  {
    promise: "Workspaces cannot see each other",
    tests: [
      ["test/http/Isolation.test.ts", "answer 404 exactly as ids that nobody has, and nothing happens"],
      [
        "test/http/Isolation.test.ts",
        "are no cursors: 400, with the same words as for a cursor that is unknown or malformed"
      ],
      ["test/intake/Copies.test.ts", "shows each of two workspaces its own recipient and nothing of the other"]
    ]
  },
  {
    promise: "A read key can only read",
    tests: [
      [
        "test/http/requests/ReadKeys.test.ts",
        "says whether a read key may ask it, and one that says nothing is not for it"
      ],
      [
        "test/http/requests/ReadKeys.test.ts",
        "is 403 on every other route of a workspace, which says what key to send, and nothing happens"
      ],
      ["test/http/requests/ReadKeys.test.ts", "gets no requests that are signed for the webhook"],
      ["test/http/requests/ReadKeys.test.ts", "reads on every route that is for it, and is told no secret there"]
    ]
  },
  {
    promise: "Revoked and replaced keys stop working",
    tests: [
      [
        "test/workspaces/WorkspaceKeys.test.ts",
        "open nothing from the moment that they are revoked, and can be revoked by their workspace alone"
      ],
      [
        "test/workspaces/WorkspaceKeys.test.ts",
        "hears at once that its key was revoked or replaced between its lookup and the wait"
      ],
      ["test/http/HeldRequests.test.ts", "end at once where it is done, and those with the workspace's own key go on"],
      [
        "test/http/HeldRequests.test.ts",
        "end at once where it is done: the wait with 401, the stream without another event"
      ],
      ["test/http/HeldRequests.test.ts", "end within seconds where another process did it"],
      ["test/http/Limits.test.ts", "is broken off when its key is revoked, and others are not"]
    ]
  },
  {
    promise: "An unknown query parameter is refused",
    tests: [
      [
        "test/http/requests/KnownParameters.test.ts",
        "that a route does not know is 400 on every route of the API, with the list of those it knows"
      ],
      [
        "test/http/requests/KnownParameters.test.ts",
        "that is unknown does nothing: the workspace it was sent for is not made, the domain is not removed"
      ]
    ]
  },
  {
    promise: "No tenant or stranger can exhaust the service",
    tests: [
      ["test/http/Limits.test.ts", "has one event at least, and all of them come in order, whole and once"],
      [
        "test/http/Limits.test.ts",
        "take so much room and no more: the next of theirs is 429, of all 503, until they are gone"
      ],
      [
        "test/http/Limits.test.ts",
        "are cut when nothing is read; one that is read slowly is not, nor one that waits for us"
      ],
      ["test/http/Limits.test.ts", "and is told so in advance; beyond that it hears 429, and others nothing of it"],
      [
        "test/http/Limits.test.ts",
        "64 KiB as one request more: after a heavy one it hears 429 until that is paid, and others nothing"
      ],
      ["test/http/Limits.test.ts", "are waited for by a stream, whose events come when they are gone"],
      ["test/http/Limits.test.ts", "streams are counted among the waits, and one that hangs up makes room"],
      ["test/http/Limits.test.ts", "waits not counted; the next hears 429 until one has ended"],
      ["test/http/Limits.test.ts", "for each client address: 429; and in all: 503; those that close make room"],
      ["test/http/answers/TextPieces.test.ts", "lets others have their turn between two pieces"],
      ["test/database/HeavyReads.test.ts", "are one at a time, and after each comes as much rest"],
      ["test/database/HeavyReads.test.ts", "are each client's in turn, whatever one of them asks for"],
      ["test/database/Turns.test.ts", "go from one client to the next, whatever each asks for"],
      ["test/database/Turns.test.ts", "are mail's first where it has the same session, and now and then the API's"],
      ["test/database/Turns.test.ts", "are not waited for by mail where it has sessions of its own"]
    ]
  },
  {
    promise: "A filter returns only what it asks for",
    tests: [
      [
        "test/http/events/EventFilters.test.ts",
        "has what its filters ask for and nothing else, on 500 random mails, however they are combined, and so have a wait and a stream"
      ]
    ]
  },
  {
    promise: "A domain belongs to the one workspace that proves it",
    tests: [
      ["test/domains/Verification.test.ts", "lets one workspace win when several verify a name at the same time"],
      ["test/domains/Verification.test.ts", "does not take the value of another workspace that wants the same name"],
      [
        "test/smtp/Recipients.test.ts",
        "keeps nothing for a domain that is detached between RCPT and DATA, nor for who holds its name now"
      ]
    ]
  },
  {
    promise: "Money is charged once and refunded if it bought nothing",
    tests: [
      [
        "test/purchase/Payments.test.ts",
        "that comes twenty times at once, and again later, is answered 200 and done once"
      ],
      [
        "test/purchase/Payments.test.ts",
        "goes back once when the registration fails for good, and the order is refunded"
      ],
      ["test/flows/purchase-crash.test.ts", "kill -9 of the service, for an order paid at Stripe,"],
      [
        "test/purchase/Purchase.test.ts",
        "by one workspace never overdraw its wallet, and the ledger adds up to the balance"
      ],
      ["test/purchase/Purchase.test.ts", "of one name by as many workspaces sell it once, and tell the others at once"],
      [
        "test/purchase/Payments.test.ts",
        "holds nothing before it is paid: neither the name for others nor a place among one's domains"
      ]
    ]
  },
  {
    promise: "A request with an Idempotency-Key runs once within 24 hours",
    tests: [
      ["test/http/requests/Idempotency.test.ts", "buys once, however often it is sent at the same time"],
      ["test/http/requests/Idempotency.test.ts", "is new after a day, or when its process died under it"]
    ]
  },
  {
    promise: "Secrets are encrypted or hashed, and never disclosed",
    tests: [
      [
        "test/flows/secrets.test.ts",
        "are in no log, metric, trace, error or file, nor in clear in the database, at any level"
      ],
      ["test/workspaces/Workspaces.test.ts", "keep the SHA-256 of the key and the sealed secret, and neither in plain"],
      ["test/workspaces/WorkspaceKeys.test.ts", "are kept as SHA-256, and not in plain"],
      ["test/purchase/Fulfilment.test.ts", "quotes its own credentials in a refusal does not have them passed on"],
      ["test/flows/files.test.ts", "is for its user alone: the embedded database, the raw messages, the secrets"]
    ]
  },
  {
    promise: "Expired mail is deleted",
    tests: [
      [
        "test/retention/Sweeper.test.ts",
        "removes a message after 14 days, with its event and attempts, from database, disk and API"
      ],
      [
        "test/retention/Sweeper.test.ts",
        "removes a segment of the log an hour after 14 days, when all of its messages are past their time"
      ],
      [
        "test/retention/RemovedDomains.test.ts",
        "is gone for everybody at once, also while its mail is still to be removed"
      ],
      [
        "test/retention/RemovedDomains.test.ts",
        "goes some at a time, those of several domains in turn, and nothing of it is left"
      ],
      ["test/retention/RawErasures.test.ts", "when its domain is detached, and nothing of another domain is"],
      ["test/retention/RawErasures.test.ts", "when the operator takes the name away, and when a workspace goes"],
      [
        "test/retention/RawErasures.test.ts",
        "also when the worker died in the middle of it, and when its segment is gone meanwhile"
      ],
      [
        "test/retention/RawErasures.postgres.test.ts",
        "also when their rows are committed while the removal of their domain waits for that"
      ]
    ]
  },
  {
    promise: "A clock jump deletes nothing",
    tests: [
      [
        "test/database/SteadyClock.test.ts",
        "does not leap when the time of day is set by two hours, and is right again within a day"
      ],
      [
        "test/database/SteadyClock.test.ts",
        "is what PostgreSQL goes by: what is due in some minutes is not due when the clock is set by two hours"
      ],
      [
        "test/retention/Sweeper.test.ts",
        "removes nothing for a day after the clock has moved by more than a day, and says so"
      ],
      [
        "test/retention/Sweeper.test.ts",
        "removes a raw message that no row knows after seven days, and no other, and says how many there are"
      ],
      ["test/retention/Sweeper.test.ts", "counts the records of the log that no row knows"]
    ]
  },
  {
    promise: "A raw message is returned unchanged or with an error",
    tests: [
      ["test/providers/storage/Segments.test.ts", "with a changed byte"],
      ["test/providers/storage/Segments.test.ts", "whose place holds another message's"],
      ["test/providers/storage/Segments.test.ts", "that a disk has lost the end of"],
      [
        "test/reading/Reader.test.ts",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the title stands so in the test
        "makes an event of the envelope of a message in ${where} that was ${what}, and nothing serves it"
      ],
      [
        "test/providers/storage/RawStoreS3.test.ts",
        "keeps nothing of an upload that was damaged on its way, and takes it whole the next time"
      ]
    ]
  },
  {
    promise: "A shutdown loses nothing",
    tests: [
      [
        "test/flows/shutdown.test.ts",
        "ends within 30 seconds whatever hangs, and the next start goes on with what was given back"
      ],
      [
        "test/flows/shutdown.test.ts",
        "lets a message in the middle of its DATA come to its end, and takes none after it"
      ]
    ]
  },
  {
    promise: "/ready answers 503 if the process cannot store mail",
    tests: [
      [
        "test/http/system/Readiness.test.ts",
        "while database and raw store take writes; without the role smtp the raw store may be gone"
      ],
      ["test/http/system/Readiness.test.ts", "not while the database answers and takes no writes"],
      [
        "test/http/system/Readiness.test.ts",
        "is 503 while the disk of the raw messages is full, and 200 again with room"
      ],
      ["test/http/system/Readiness.test.ts", "is 503 while the bucket is gone, and 200 again once it is back"]
    ]
  },
  {
    promise: "Only one process opens an embedded database",
    tests: [
      [
        "test/database/FolderLock.test.ts",
        "has one owner each time when several start at once over what a killed one left, and it is free again"
      ],
      [
        "test/database/FolderLock.test.ts",
        "is not taken from a process that does not answer, nor from one that is stopped where it stands"
      ],
      ["test/flows/processes.test.ts", "belongs to one process: a second one says so and does not start"]
    ]
  },
  {
    promise: "A start that cannot succeed ends with one line",
    tests: [
      [
        "test/database/InitialDatabase.test.ts",
        "refuses a folder that holds something else, a damaged one and a foreign one, in PostgreSQL's words and with what to do"
      ],
      ["test/settings/LocalSecret.test.ts", "does not take an empty file for a secret, and says what to do"]
    ]
  },
  {
    promise: "A restored backup works",
    tests: [
      [
        "test/flows/backup.postgres.test.ts",
        "made with pg_dump and a copy of RAW_DIR goes on in another database and folder"
      ],
      ["test/flows/backup.test.ts", "made by a copy of DATA_DIR after a stop goes on in another folder"]
    ]
  }
]

/** A heading as the part of a link behind the #. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replaceAll(" ", "-")

/** The page docs/proofs.md. */
export const render = () =>
  [
    "# Proofs",
    "Generated from `docs/Proofs.ts` by `npm run docs`. Each test below fails when its [promise](guarantees.md) does not hold. `npm test` runs them.",
    ...proofs.map(({ promise, tests }) =>
      [`## ${promise}`, tests.map(([file, title]) => `- \`${file}\` › ${title}`).join("\n")].join("\n\n")
    )
  ]
    .join("\n\n")
    .concat("\n")
