/** A promise of docs/guarantees.md and the tests that prove it, as file and title. */
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
      ["test/flows/prove.postgres.test.ts", "while PostgreSQL is suspended for longer than any timeout"],
      ["test/flows/prove.postgres.test.ts", "while the raw message disk is full"],
      ["test/flows/prove.postgres.test.ts", "when one of two processes is killed for good"],
      ["test/flows/scaled.postgres.test.ts", "lose no mail and duplicate none when one is killed with -9"],
      ["test/flows/bucket.test.ts", "loses no mail that it answered 250, also through kill -9"],
      [
        "test/providers/storage/SegmentLog.test.ts",
        "during a write leaves a torn tail without a row that is neither read nor extended"
      ],
      [
        "test/flows/crash-points.postgres.test.ts",
        "between the sync and the row leaves bytes without a row, and the retried mail is a new one"
      ],
      [
        "test/flows/crash-points.postgres.test.ts",
        "between the row and the 250 makes one event of the first bytes when the sender retries"
      ],
      ["test/flows/crash.test.ts", "during a burst loses no accepted mail and invents none"],
      ["test/reading/Reader.test.ts", "parses and delivers messages left by a crash"],
      [
        "test/flows/power.embedded.test.ts",
        "loses no mail that was answered 250, during a run, after a stop or after kill -9: bytes, log and 250 are synced in this order"
      ],
      [
        "test/flows/power.embedded.test.ts",
        "loses no mail in a bucket: the bucket's answer, the log and the 250 follow in this order"
      ],
      [
        "test/flows/power.postgres.test.ts",
        "loses no mail that was answered 250, during a run, after a stop or after kill -9: bytes, log and 250 are synced in this order"
      ],
      [
        "test/intake/Standby.postgres.test.ts",
        "gives 451 for mail that no standby has, also for its retry and if the wait is cancelled"
      ],
      ["test/intake/Standby.postgres.test.ts", "gives 451 for its retry where each client address has a limit, too"],
      ["test/database/WirePglite.test.ts", "reports no commit after a failed sync, and keeps earlier commits"],
      ["test/database/EmbeddedDatabase.test.ts", "fails the running statement, reopens, and keeps committed data"],
      [
        "test/database/EmbeddedDatabase.test.ts",
        "restarts at a checkpoint once it exceeds its size, not only at a stop"
      ]
    ]
  },
  {
    promise: "Inlet refuses mail that it cannot store",
    tests: [
      ["test/intake/Failures.test.ts", "because the raw store fails is answered 451, and the next one is stored"],
      [
        "test/intake/Failures.test.ts",
        "because the raw store hangs is answered 451, and keeps its memory until that ends"
      ],
      ["test/intake/LateWrites.test.ts", "of a message for several recipients, which is not stored then"],
      ["test/intake/LateWrites.test.ts", "of a simulated message"],
      ["test/intake/LateWrites.test.ts", "a message keeps its memory after a late 451 until its write ends"],
      ["test/intake/LateWrites.test.ts", "of a message from a relay, and another is refused with 452 until then"],
      ["test/intake/Failures.test.ts", "for one of two workspaces is stored for neither"],
      [
        "test/providers/storage/RawStoreS3.test.ts",
        "stores nothing of an upload damaged in transit, and stores the retry"
      ],
      ["test/flows/bucket.test.ts", "a mail is answered 250 by a retry after the bucket hangs once"],
      [
        "test/intake/Outage.postgres.test.ts",
        "never receives the statement, no row is found, and the sender receives 451 within 10 s"
      ],
      [
        "test/intake/Outage.postgres.test.ts",
        "hangs, the sender receives 451 within 10 s, and mail is accepted again afterwards"
      ],
      [
        "test/providers/storage/SegmentLog.test.ts",
        "stores no message without disk space, and continues after the last complete one"
      ],
      [
        "test/providers/storage/SegmentLog.test.ts",
        "never syncs a file again after a failed sync: its messages fail and the next go to another segment"
      ],
      [
        "test/providers/storage/SegmentLog.test.ts",
        "stores nothing in a segment that was removed or moved, and starts another"
      ],
      ["test/flows/outage.postgres.test.ts", "answers 503 and 451 in time while PostgreSQL is suspended, and recovers"]
    ]
  },
  {
    promise: "A simulated mail goes the same way as a real one",
    tests: [
      ["test/http/Simulate.test.ts", "becomes the same event as over SMTP, except for ids, times and envelope"],
      ["test/http/Simulate.test.ts", "is deduplicated by its bytes and by Idempotency-Key"],
      ["test/http/Simulate.test.ts", "keeps its simulated verdicts when another reader takes it over"],
      [
        "test/http/Simulate.test.ts",
        "counts toward the daily quota of the workspace, not of a client address, and answers 429 until midnight UTC"
      ]
    ]
  },
  {
    promise: "A relay gets a 2xx only for mail that is stored",
    tests: [
      ["test/flows/prove.postgres.test.ts", "while mail comes by HTTP, and the service or the relay dies at random"],
      ["test/http/Ingest.test.ts", "becomes the same event as over SMTP, but for ids, times and what marks the way"],
      ["test/http/Ingest.test.ts", "is marked as relayed after a crash before it was parsed"],
      ["test/http/Ingest.test.ts", "is one event if the relay repeats it, though each attempt has new trace fields"],
      [
        "test/http/Ingest.test.ts",
        "without a Message-ID is one event under the same Idempotency-Key, and 422 with other bytes"
      ],
      ["test/http/Ingest.test.ts", "goes to several recipients, or to none if one is refused"],
      ["test/http/Ingest.test.ts", "goes to nobody if a recipient or the sender is no single address, as in SMTP"],
      ["test/http/Ingest.test.ts", "is refused with the reply of SMTP, and is in the ledger and the trace as relayed"],
      ["test/http/Ingest.test.ts", "is answered 503 and 451 if it cannot be stored, and 202 afterwards"],
      ["test/http/Ingest.test.ts", "over the size limit is 552, whether the size is announced or not"],
      ["test/http/Ingest.test.ts", "that breaks off is not stored"],
      ["test/http/Ingest.test.ts", "for a name that another workspace holds does not reach that workspace"],
      ["test/http/Ingest.test.ts", "does not count for the client that the relay names"],
      ["test/http/Ingest.test.ts", "is that of SMTP, and its owner is the workspace"]
    ]
  },
  {
    promise: "The bridge for Cloudflare loses no mail and rejects none by mistake",
    tests: [
      [
        "test/flows/prove.postgres.test.ts",
        "while mail comes through the bridge, and the service or workerd is killed at random"
      ],
      [
        "test/cli/bridge.test.ts",
        "accepts a mail that Inlet has stored, with the client of the topmost Received field"
      ],
      ["test/cli/bridge.test.ts", "rejects what Inlet refuses for good, with its text"],
      ["test/cli/bridge.test.ts", "throws over the quota of the day, so that the sender retries"],
      ["test/cli/bridge.test.ts", "throws with a wrong key, and rejects nothing"],
      ["test/cli/bridge.test.ts", "throws on any other answer, also one of another server"],
      ["test/cli/bridge.test.ts", "throws if the service is away, hangs, or tears its answer"],
      [
        "test/cli/bridge.test.ts",
        "makes one event of a mail whose answer was lost, though Cloudflare writes new fields for the retry"
      ]
    ]
  },
  {
    promise: "An ingest key can only hand mail over",
    tests: [
      [
        "test/http/requests/IngestKeys.test.ts",
        "hands mail over, and is refused on every other route, by MCP and by the console"
      ],
      ["test/http/requests/IngestKeys.test.ts", "of one domain hands mail over for no other, and takes no pattern"],
      ["test/http/requests/IngestKeys.test.ts", "opens no other workspace's domain"],
      ["test/http/requests/IngestKeys.test.ts", "takes the workspace's own key, and no read key"]
    ]
  },
  {
    promise: "A sender's retry makes no second event",
    tests: [
      ["test/intake/Deduplication.test.ts", "is answered 250 without a second event, copy or charge to the quota"],
      ["test/intake/Deduplication.test.ts", "is recognized on two concurrent connections and stored once"],
      ["test/intake/Deduplication.test.ts", "is a new message if its bytes differ under the same Message-ID"],
      [
        "test/intake/Outage.postgres.test.ts",
        "commits and the answer is lost, the row is found, the sender receives 250, and one event follows"
      ],
      [
        "test/intake/Outage.postgres.test.ts",
        "commits a transaction and the answer is lost, the rows are found, the sender receives 250, and an event for each recipient follows"
      ],
      ["test/smtp/Message.test.ts", "is stored once when the connection breaks after the dot and the sender retries"]
    ]
  },
  {
    promise: "Every accepted mail becomes an event, however broken it is",
    tests: [
      [
        "test/flows/bombs.embedded.test.ts",
        "is answered 250, becomes an event in time and delays no other mail, in one form of five"
      ],
      ["test/reading/Reader.test.ts", "makes an event of the header alone after a message crashed two readers"],
      ["test/reading/Reader.test.ts", "continues after a failed message and retries it after its lease"],
      [
        "test/reading/ReadAttempts.test.ts",
        "are not counted if a stop ends them, also while the mail waits to be loaded"
      ],
      ["test/reading/ReadAttempts.test.ts", "are not counted if the database is away for longer than the reader tries"],
      ["test/intake/Copies.test.ts", "starts with Return-Path and Received, followed by the original bytes"]
    ]
  },
  {
    promise: "An event is at most three times as large as its message, plus 1 MiB",
    tests: [
      ["test/reading/EventPayload.test.ts", "has at most three times the size of the message plus 1 MiB: %s"],
      ["test/reading/EventPayload.test.ts", "contains no control character except TAB and LF in any name"]
    ]
  },
  {
    promise: "Nobody can smuggle a second message into a mail",
    tests: [
      ["test/smtp/Message.test.ts", "ends at CRLF . CRLF only, in one packet or byte by byte"],
      [
        "test/smtp/DataStream.test.ts",
        "ends at CRLF . CRLF only and loses dots after CRLF only, in every form and at any split"
      ],
      ["test/smtp/StartTls.test.ts", "discards the earlier session and everything pipelined in plain text"]
    ]
  },
  {
    promise: "Extracted codes and links are visible in the mail",
    tests: [
      ["test/content/codes/Codes.test.ts", "ignores quoted and hidden text"],
      ["test/content/codes/Codes.test.ts", "is never certain without a code: %s"],
      ["test/content/codes/Codes.test.ts", "is uncertain with two candidates"],
      ["test/content/codes/Codes.test.ts", "does not depend on earlier mails"],
      ["test/content/CodesCorpus.test.ts", "yield no code with certainty, because none has one"],
      ["test/content/codes/Links.test.ts", "exclude footer links, quoted and hidden links, and images without text"]
    ]
  },
  {
    promise: "Hidden words are not in text, reply and extracted",
    tests: [
      ["test/reading/EventPayload.test.ts", "contains no hidden word in text, reply and extracted: %s"],
      ["test/content/Hidden.test.ts", "stays and is marked: %s"],
      ["test/content/TwoParts.test.ts", "gives no code or link that a person does not see at `high`: %s"],
      ["test/content/HiddenPairs.test.ts", "is removed if one is nested in the other"],
      ["test/content/HiddenPairs.test.ts", "is removed if one follows the other"],
      ["test/content/reply/Reply.test.ts", "contains no hidden words if an element starts or ends in a quotation: %s"],
      ["test/content/reply/Reply.test.ts", "contains no words hidden by styles inside, after or beside a quotation"],
      ["test/content/html/Content.test.ts", "lists hidden words in the hidden view, and else their count"]
    ]
  },
  {
    promise: "The same bytes make the same payload",
    tests: [
      [
        "test/reading/SamePayload.test.ts",
        "yields the same payload a hundred times, in any thread and after a restart"
      ],
      ["test/http/Simulate.test.ts", "becomes the same event as over SMTP, except for ids, times and envelope"]
    ]
  },
  {
    promise: "All kinds of senders get through",
    tests: [
      [
        "test/smtp/Connections.test.ts",
        "accepts mail from others at once, and ends the idle connections within seconds"
      ],
      ["test/flows/relay.test.ts", "The mail of a foreign sender arrives as sent:"]
    ]
  },
  {
    promise: "Inlet delivers every event at least once",
    tests: [
      ["test/delivery/Retries.test.ts", "are eleven attempts over about three days, then the delivery is dead"],
      [
        "test/flows/workers.postgres.test.ts",
        "deliver each of 10,000 deliveries once, with at most 64 concurrent requests to a webhook"
      ],
      [
        "test/flows/workers.postgres.test.ts",
        "repeat a delivery with the same event id when killed before they record it"
      ],
      ["test/delivery/DeliveryLines.test.ts", "keep at most two batches of a domain sent but not recorded"],
      ["test/delivery/WebhookSigner.test.ts", "has the same bytes, a later timestamp and a new signature on a retry"],
      ["test/http/Replay.test.ts", "has a fresh retry budget"],
      [
        "test/delivery/Pausing.test.ts",
        "keeps mail pending, is probed, and receives the rest after a success, 16 at a time"
      ]
    ]
  },
  {
    promise: "An app without a public address gets the same requests as a webhook",
    tests: [
      [
        "test/flows/listen.test.ts",
        "receive each mail at least once and signed, as copies and as deliveries, while listeners and service are killed"
      ],
      ["test/http/SignedStream.test.ts", "sends each event as its webhook request, without affecting the delivery"],
      ["test/http/SignedStream.test.ts", "signs at the time of sending, with both secrets during a rotation"],
      ["test/cli/forward.test.ts", "retries a refused event before any later one and reports it"],
      ["test/cli/forward.test.ts", "resumes after the last accepted event or from --since"]
    ]
  },
  {
    promise: "Pulled deliveries behave like webhook deliveries",
    tests: [
      [
        "test/flows/listen.test.ts",
        "receive each mail at least once and signed, as copies and as deliveries, while listeners and service are killed"
      ],
      [
        "test/http/PullDeliveries.test.ts",
        "has the request of its webhook, and its first 2xx marks it delivered and the domain live"
      ],
      [
        "test/http/PullDeliveries.test.ts",
        "is retried by the webhook schedule, dead after the last failure, and leased again after a replay"
      ],
      ["test/http/PullDeliveries.test.ts", "is leased to one of several clients"],
      [
        "test/http/PullDeliveries.test.ts",
        "is leased again after its lease expires, and a late outcome changes nothing"
      ],
      ["test/http/PullDeliveries.test.ts", "accepts no outcome without a lease or for another domain"],
      [
        "test/http/PullDeliveries.test.ts",
        "goes to a webhook once one is set, and earlier leases still accept their outcome"
      ],
      [
        "test/http/PullDeliveries.test.ts",
        "is held after pull is switched off, and an earlier lease accepts one outcome"
      ]
    ]
  },
  {
    promise: "A frozen worker cannot undo another worker's result",
    tests: [
      ["test/flows/processes.test.ts", "take over the work of a suspended one and ignore its late outcomes"],
      ["test/delivery/DeliveryQueue.test.ts", "claims an expired lease for another worker and lists the lost attempt"]
    ]
  },
  {
    promise: "After an outage of a webhook its mail arrives within minutes",
    tests: [
      ["test/delivery/CatchingUp.test.ts", "all waiting mail arrives within seconds of the first success"],
      [
        "test/delivery/CatchingUp.test.ts",
        "gets its waiting retries at once, oldest first, in steps of two, four, eight and so on"
      ],
      ["test/delivery/CatchingUp.test.ts", "gets no more at once while it has not answered most of a step"],
      ["test/delivery/CatchingUp.test.ts", "moves no delivery of another domain"],
      [
        "test/delivery/CatchingUp.test.ts",
        "puts a delivery that fails early back to its schedule, without an attempt of its budget"
      ],
      [
        "test/delivery/CatchingUp.test.ts",
        "that alternates between success and failure costs each delivery one early attempt, and one an hour"
      ]
    ]
  },
  {
    promise: "A replay job delivers every event it counted at least once",
    tests: [
      ["test/http/Replays.test.ts", "is counted with dry_run, delivers every dead event, and reports its progress"],
      ["test/events/Replays.test.ts", "takes a step in one of several processes at a time"],
      ["test/events/Replays.test.ts", "loses nothing to a process that dies within a step"],
      [
        "test/events/Replays.test.ts",
        "replays delivered deliveries once each, and none that are delivered after its start"
      ]
    ]
  },
  {
    promise: "An operational event is recorded once and sent at least once",
    tests: [
      [
        "test/operations/OperationalEvents.test.ts",
        "of a kind is recorded once an hour, and 500 of a workspace in a UTC day"
      ],
      [
        "test/operations/OperationalEvents.test.ts",
        "survives a worker that dies within its request, whose late outcome then counts for nothing"
      ],
      [
        "test/operations/OperationalEvents.test.ts",
        "leases a webhook to one of several processes, with one event at a time, oldest first"
      ],
      [
        "test/delivery/Pausing.test.ts",
        "that is paused is resumed by the first success, oldest delivery first, at the usual concurrency"
      ],
      ["test/operations/OperationalEvents.test.ts", "is retried, then stays listed as dead after the last attempt"]
    ]
  },
  {
    promise: "Slow or dead webhooks do not delay other webhooks",
    tests: [
      [
        "test/delivery/DeliveryWorker.test.ts",
        "at 500 domains of 100 workspaces delays no other tenant from the first mail on"
      ],
      [
        "test/delivery/DeliveryLines.test.ts",
        "leave a slot for another workspace while 500 domains of 100 workspaces hang"
      ],
      ["test/webhooks/Webhooks.test.ts", "of one that works is not delayed by 20 that hang"],
      ["test/delivery/DeliveryLines.test.ts", "take no slot from a domain that answers at once"],
      ["test/delivery/Pace.test.ts", "falls back to 1 after a request of 15 s"],
      ["test/delivery/DeliveryWorker.test.ts", "with hundreds of waiting mails delays no other domain"],
      ["test/delivery/DeliveryLines.test.ts", "respect the total concurrency and alternate between domains"],
      ["test/delivery/WebhookSender.test.ts", "is delivered to while some of its webhooks hang"],
      ["test/operations/OperationalEvents.test.ts", "at a webhook that hangs delays no other workspace"]
    ]
  },
  {
    promise: "A forged author passes no allow list",
    tests: [
      ["test/trust/Forgery.test.ts", "a forged mail does not pass: %s"],
      ["test/trust/Forgery.test.ts", "honest mail passes, or its event says why not: %s"],
      [
        "test/trust/SenderRules.test.ts",
        "that allows an author holds mail of all others, and of the author where nothing confirms it"
      ],
      [
        "test/trust/SenderRules.test.ts",
        "that blocks an author is not evaded by no author, a second one, or a damaged field"
      ],
      ["test/trust/SenderRules.test.ts", "holds mail from its webhook, waits, streams and agents, until it is released"]
    ]
  },
  {
    promise: "A mail goes to the one webhook that its address names",
    tests: [
      [
        "test/webhooks/routes/Routes.test.ts",
        "is the one that an oracle with regular expressions finds, for 40 recipients and up to 12 patterns"
      ],
      ["test/webhooks/routes/Routes.test.ts", "overlap only if some text matches both"],
      ["test/webhooks/Webhooks.test.ts", "have no two patterns that could tie, and say which webhook is in the way"],
      ["test/webhooks/Webhooks.test.ts", "goes to one of them each, and its event names the webhook and the pattern"],
      ["test/webhooks/Webhooks.test.ts", "goes to exactly one webhook while patterns are created, moved and removed"],
      [
        "test/webhooks/Webhooks.test.ts",
        "goes by the patterns that remain if its webhook is removed between RCPT and the end of DATA"
      ],
      [
        "test/webhooks/Webhooks.test.ts",
        "stays with its webhook when patterns change, and moves with a replay to another one"
      ],
      ["test/webhooks/Webhooks.test.ts", "is answered 550 at RCPT for a rejected address, and noted for the domain"],
      ["test/webhooks/Upgrade.test.ts", "keeps every delivery, the signed bytes and the state of every webhook"]
    ]
  },
  {
    promise: "A receiver can detect a forged webhook request",
    tests: [
      ["test/delivery/WebhookSigner.test.ts", "is verified by independent libraries, and only with its secret"],
      ["test/docs/readme.test.ts", "rejects the requests that the specification rejects"]
    ]
  },
  {
    promise: "Receivers of other providers take every mail whole",
    tests: [
      ["test/compat/Compat.test.ts", "takes every mail whole, through each of its endpoints"],
      ["test/compat/Libraries.test.ts", "reads every mail in the sendgrid format whole"],
      ["test/compat/Libraries.test.ts", "reads every mail in the postmark format whole"],
      ["test/delivery/formats/FormatProperties.test.ts", "has the same values in the postmark format"],
      [
        "test/delivery/formats/FormatDelivery.test.ts",
        "is the same bytes on a retry, except for Mailgun's time and token"
      ]
    ]
  },
  {
    promise: "No sender speaks for the provider",
    tests: [
      [
        "test/delivery/formats/CarriedMessage.test.ts",
        "contains no line with a claim in its header, for any line ends"
      ],
      [
        "test/delivery/formats/CarriedMessage.test.ts",
        "leaves out a claim after a bare CR, which Ruby and Python read as a line end"
      ],
      ["test/delivery/formats/FormatDelivery.test.ts", "lets no captured native signature pass at a Mailgun receiver"]
    ]
  },
  {
    promise: "Nobody can use Inlet to flood a URL",
    tests: [
      ["test/http/Replays.test.ts", "is limited to 20 a day"],
      [
        "test/events/Replays.test.ts",
        "of delivered events is limited to 10,000 of a workspace a UTC day, and a stop returns the rest"
      ],
      ["test/events/Replays.test.ts", "of more than 10,000 delivered events is refused"],
      [
        "test/events/Replays.test.ts",
        "sends the delivered events that it counted, and none that are delivered meanwhile"
      ],
      [
        "test/delivery/CatchingUp.test.ts",
        "makes 512 waiting deliveries due at once after a pause, and brings the rest forward in steps"
      ],
      ["test/events/Replays.test.ts", "counts failed attempts, and halves its step while the webhook fails"],
      [
        "test/workspaces/WorkspaceLimits.test.ts",
        "has limited replays and receives Retry-After, separately from other workspaces"
      ],
      ["test/workspaces/WorkspaceLimits.test.ts", "has limited webhook changes"],
      [
        "test/workspaces/WorkspaceLimits.test.ts",
        "has daily limits across all processes, with Retry-After until midnight"
      ],
      ["test/delivery/Pausing.test.ts", "is not resumed by setting the URL of a webhook that is not paused"],
      ["test/delivery/Pausing.test.ts", "is not paused after fewer than ten failures or on fewer than three UTC days"]
    ]
  },
  {
    promise: "Webhooks reach no private address in production",
    tests: [
      ["test/delivery/Egress.test.ts", "refuses every spelling of a private address without a connection"],
      ["test/delivery/Egress.test.ts", "refuses a name with a private address without naming the address"],
      ["test/delivery/Egress.test.ts", "connects to the checked address and sends the Host of the URL"],
      ["test/delivery/WebhookSender.test.ts", "follows no redirect"],
      [
        "test/delivery/EgressAlone.test.ts",
        "does not connect to a name that now points to a private address, and delivers once it is allowed"
      ]
    ]
  },
  {
    promise: "Sender and recipient are enough to find out what became of a mail",
    tests: [
      ["test/trace/Trace.test.ts", "shows the whole way of a delivered mail, found by its recipient alone"],
      [
        "test/trace/Trace.test.ts",
        "shows the attempts of clients that lease, those that failed, and one that they did not report"
      ],
      [
        "test/trace/Trace.test.ts",
        "finds a mail by Message-ID, sender, sender's domain, subject and time, without case"
      ],
      ["test/trace/Trace.test.ts", "says of a failed delivery what failed, when it is tried next, and what to do"],
      ["test/trace/Trace.test.ts", "shows refused mail with its reason and remedy, beside mail that was accepted"],
      ["test/trace/Trace.test.ts", "shows a stored mail that is not parsed yet"],
      ["test/trace/Trace.test.ts", "pages through mail and refusals without gaps and repetitions"],
      [
        "test/refusals/RefusalNotes.test.ts",
        "keeps 1,000 rows of a domain and day, and counts the others by hour and reason"
      ]
    ]
  },
  {
    promise: "A wait after a mark returns only new mail",
    tests: [
      [
        "test/http/HeldRequests.test.ts",
        "return only new mail after a list cursor, also of an empty list, and after latest"
      ],
      ["test/http/HeldRequests.test.ts", "resume at the cursor of an empty wait without a gap"],
      ["test/http/EventList.test.ts", "catches up with arriving mail and returns each event once"],
      [
        "test/http/events/EventFilters.test.ts",
        "examines 5,000 events a request for a filter without an index, but all of them before a wait"
      ]
    ]
  },
  {
    promise: "MCP tools can do less than the API",
    tests: [
      ["test/mcp/Mcp.test.ts", "opens the mail of its workspace only"],
      ["test/mcp/Mcp.test.ts", "with read scope waits and reads, and simulates nothing"],
      ["test/mcp/Mcp.test.ts", "that is replaced during a wait ends the wait with an explanation"],
      ["test/mcp/Mcp.test.ts", "counts toward the waits of the workspace until its client cancels or disconnects"],
      ["test/mcp/Mcp.test.ts", "is unknown to another key, which cannot cancel its requests"],
      ["test/mcp/Mcp.test.ts", "shows its visible content with a notice, and reports omitted parts"],
      ["test/mcp/Tokens.test.ts", "is at most 2,500 for any other answer by default, in many languages"]
    ]
  },
  {
    promise: "Workspaces cannot see each other",
    tests: [
      ["test/http/Isolation.test.ts", "answer 404 exactly as unknown ids, and change nothing"],
      ["test/trace/Trace.test.ts", "shows nothing of another workspace, whatever is asked"],
      ["test/http/Isolation.test.ts", "answer 400 as cursors, like unknown or malformed cursors"],
      ["test/intake/Copies.test.ts", "shows each of two workspaces only its own recipient"]
    ]
  },
  {
    promise: "A read key can only read",
    tests: [
      ["test/http/requests/ReadKeys.test.ts", "declares whether it accepts read keys, and refuses them by default"],
      [
        "test/http/requests/ReadKeys.test.ts",
        "is answered 403 on every other workspace route with the required key, and changes nothing"
      ],
      ["test/http/requests/ReadKeys.test.ts", "receives no signed webhook requests"],
      ["test/http/requests/ReadKeys.test.ts", "reads on every route that accepts it, without secrets"]
    ]
  },
  {
    promise: "A key with a pattern sees no other mail",
    tests: [
      ["test/http/requests/LimitedKeys.test.ts", "refuses keys with a limit unless it declares how it filters"],
      ["test/http/requests/LimitedKeys.test.ts", "is refused with 403 on every route that does not filter"],
      ["test/http/requests/LimitedKeys.test.ts", "is not found by the hash that earlier versions look up"],
      [
        "test/http/requests/LimitedKeys.test.ts",
        "gets for another address's event what it gets for one that does not exist"
      ],
      ["test/http/requests/LimitedKeys.test.ts", "finds only its mail by any filter of the lists"],
      ["test/http/requests/LimitedKeys.test.ts", "finds no mail of another address in its conversation"],
      [
        "test/http/requests/LimitedKeys.test.ts",
        "is refused the cursors and marks of another key, also those beyond the last mail"
      ],
      ["test/http/requests/LimitedKeys.test.ts", "streams its own mail alone, also after the event of another address"],
      ["test/http/requests/LimitedKeys.test.ts", "traces its own mail and refusals, without other recipients"],
      ["test/http/requests/LimitedKeys.test.ts", "leases and settles deliveries of its own mail alone"],
      ["test/http/requests/LimitedKeys.test.ts", "with a domain sees no other domain, and ends with it"],
      ["test/mcp/LimitedKeys.test.ts", "lists, traces and reads no mail of another address"],
      ["test/mcp/LimitedKeys.test.ts", "waits for its own code and mail alone"],
      ["test/database/RecipientPattern.test.ts", "takes the same addresses as the routes of webhooks"]
    ]
  },
  {
    promise: "Revoked and replaced keys stop working",
    tests: [
      ["test/workspaces/WorkspaceKeys.test.ts", "open nothing once revoked, which only their workspace can do"],
      [
        "test/workspaces/WorkspaceKeys.test.ts",
        "is answered at once if its key was revoked or replaced between look-up and wait"
      ],
      ["test/http/HeldRequests.test.ts", "end at once in the same process, and those with the workspace key continue"],
      [
        "test/http/HeldRequests.test.ts",
        "end at once in the same process: the wait with 401, the stream without another event"
      ],
      ["test/http/HeldRequests.test.ts", "end within seconds in another process"],
      [
        "test/workspaces/KeyRechecks.test.ts",
        "share the checks of their keys, which count as uses, and end after a change by another process"
      ],
      ["test/http/requests/WholeBody.test.ts", "is refused on every kind of route, and does nothing"],
      ["test/http/requests/WholeBody.test.ts", "is refused with a revoked key beside the workspace's own"],
      [
        "test/http/requests/WholeBody.test.ts",
        "is refused with the cookie of a session that was signed out, also of the operator's"
      ],
      ["test/http/requests/WholeBody.test.ts", "serves one of several replacements at once, and refuses the others"],
      ["test/http/Limits.test.ts", "are cut when the key is revoked, and others continue"]
    ]
  },
  {
    promise: "An unknown query parameter or field is refused",
    tests: [
      [
        "test/http/requests/KnownParameters.test.ts",
        "that is unknown answers 400 on every API route with the known ones"
      ],
      [
        "test/http/requests/KnownParameters.test.ts",
        "that is unknown prevents the request: no workspace is created, no domain removed"
      ],
      [
        "test/http/Requests.test.ts",
        "answer 400 to a field that the route does not have, and name the fields that it has"
      ]
    ]
  },
  {
    promise: "No tenant or stranger can exhaust the service",
    tests: [
      ["test/http/Limits.test.ts", "contains at least one event, and all events follow in order, once each"],
      [
        "test/http/Limits.test.ts",
        "are limited in memory: more answer 429 for one client and 503 for all until they are sent"
      ],
      ["test/http/Limits.test.ts", "are cut for a client that reads nothing, but not for a slow or waiting one"],
      [
        "test/http/Limits.test.ts",
        "with the remaining quota in headers, and answers 429 beyond it while others are served"
      ],
      ["test/http/Limits.test.ts", "at 64 KiB a request, and answers 429 after a large one while others are served"],
      ["test/http/Limits.test.ts", "are waited for by a stream, which continues once they are sent"],
      ["test/http/Limits.test.ts", "counts streams among the waits, and frees the slot of one that disconnects"],
      ["test/http/Limits.test.ts", "without the waits, and answers 429 to one more until one ends"],
      ["test/http/Limits.test.ts", "to 429 for each client address and 503 in total, until some close"],
      ["test/http/answers/TextPieces.test.ts", "yields to other work between pieces"],
      [
        "test/http/requests/AddressQuery.test.ts",
        "is refused in a time that grows with its length, not with the square of it"
      ],
      ["test/database/HeavyReads.test.ts", "run one at a time, with a pause as long as each read"],
      ["test/database/HeavyReads.test.ts", "alternate between clients"],
      ["test/database/Turns.test.ts", "alternates between clients"],
      ["test/database/Turns.test.ts", "prefers mail on a shared connection, and lets the API in at intervals"],
      ["test/database/Turns.test.ts", "does not delay mail with connections of its own"],
      ["test/health/DnsChecks.test.ts", "looks five of a thousand hosts up, and finds its own behind them"],
      ["test/health/DnsChecks.test.ts", "answers within 9 s while DNS is silent, and shares the answer for 5 s"],
      ["test/health/MailHost.test.ts", "connect once for many requests"]
    ]
  },
  {
    promise: "A filter returns only what it asks for",
    tests: [
      [
        "test/http/events/EventFilters.test.ts",
        "contains exactly the events of any filter combination on 500 random mails, as do a wait and a stream"
      ],
      ["test/events/WorkspaceEvents.test.ts", "are listed newest first, once each, with any filter and page size"]
    ]
  },
  {
    promise: "A domain belongs to the one workspace that proves it",
    tests: [
      ["test/domains/Verification.test.ts", "grants a name to one of several workspaces that verify at the same time"],
      ["test/domains/Verification.test.ts", "rejects the value of another workspace that waits for the same name"],
      [
        "test/smtp/Recipients.test.ts",
        "stores nothing for a domain removed between RCPT and DATA, nor for the new holder of its name"
      ]
    ]
  },
  {
    promise: "Money is charged once and refunded if it bought nothing",
    tests: [
      [
        "test/purchase/Payments.test.ts",
        "that arrives twenty times concurrently and once later is answered 200 and processed once"
      ],
      ["test/purchase/Payments.test.ts", "is refunded once if the registration fails for good"],
      ["test/purchase/Fulfilment.test.ts", "cannot be looked up, however often, is asked to register once it can"],
      [
        "test/purchase/Fulfilment.test.ts",
        "takes the order and never registers makes it fail after 14 days, with one refund"
      ],
      [
        "test/purchase/Fulfilment.test.ts",
        "takes the order without an answer keeps the money while it does not sell the name"
      ],
      ["test/testing/Fakes.test.ts", "is left after a minute: 202, and the orders of others go on"],
      ["test/flows/purchase-crash.test.ts", "kill -9 of the service, for an order paid at Stripe,"],
      [
        "test/purchase/Purchase.test.ts",
        "by one workspace never overdraw its wallet, and the ledger sums to the balance"
      ],
      [
        "test/purchase/Purchase.test.ts",
        "of one name by several workspaces sell it once, and the others are refused at once"
      ],
      ["test/purchase/Payments.test.ts", "reserves neither the name nor a domain of the workspace before the payment"]
    ]
  },
  {
    promise: "A request with an Idempotency-Key runs once within 24 hours",
    tests: [
      ["test/http/requests/Idempotency.test.ts", "buys once for concurrent repeats"],
      ["test/http/requests/Idempotency.test.ts", "is executed again after a day, or after its process died"],
      ["test/http/requests/KeptAnswers.test.ts", "is given and stored later, if the database fails after the work"]
    ]
  },
  {
    promise: "Secrets are encrypted or hashed, and never disclosed",
    tests: [
      [
        "test/flows/secrets.test.ts",
        "appear in no log, metric, trace, error or file, and only encrypted in the database"
      ],
      ["test/delivery/formats/FormatDelivery.test.ts", "shows its credentials nowhere"],
      ["test/delivery/formats/FormatDelivery.test.ts", "sends no password to the next URL that has none"],
      ["test/workspaces/Workspaces.test.ts", "store the SHA-256 of the key and the encrypted secret"],
      ["test/workspaces/WorkspaceKeys.test.ts", "are stored as SHA-256"],
      ["test/purchase/Fulfilment.test.ts", "quotes its own credentials in a refusal is not quoted"],
      ["test/flows/files.test.ts", "are readable only by its user: the embedded database, raw messages and secrets"]
    ]
  },
  {
    promise: "Expired mail is deleted",
    tests: [
      [
        "test/retention/Sweeper.test.ts",
        "removes a message after 14 days with its event and attempts from database, disk and API"
      ],
      [
        "test/retention/Sweeper.test.ts",
        "removes a log segment an hour after 14 days once all its messages are expired"
      ],
      ["test/retention/RemovedDomains.test.ts", "is invisible at once, even while its mail is still being removed"],
      ["test/retention/RemovedDomains.test.ts", "is removed completely in batches that alternate between domains"],
      ["test/flows/bucket.test.ts", "a removed domain removes its objects, also if the bucket fails at first"],
      ["test/retention/RawErasures.test.ts", "after its domain is removed, without affecting another domain"],
      ["test/retention/RawErasures.test.ts", "after the operator releases the name, and after a workspace is removed"],
      [
        "test/retention/RawErasures.test.ts",
        "also after the worker died during the erasure, and not in a segment that expired"
      ],
      ["test/retention/RawErasures.test.ts", "later, if its segment is missing meanwhile, as without its disk"],
      [
        "test/retention/RawErasures.postgres.test.ts",
        "even if its row commits while the removal of its domain waits for it"
      ]
    ]
  },
  {
    promise: "A clock jump deletes nothing",
    tests: [
      [
        "test/database/SteadyClock.test.ts",
        "does not jump when the system clock is set by 2 h, and is correct again within a day"
      ],
      [
        "test/database/SteadyClock.test.ts",
        "is the clock of PostgreSQL, so that a delivery due in minutes is not due after a change of 2 h"
      ],
      [
        "test/retention/Sweeper.test.ts",
        "removes nothing for a day after the clock moved by more than a day, and logs it"
      ],
      [
        "test/retention/Sweeper.test.ts",
        "keeps mail that came while the clock of its server was wrong for 14 days from its reading"
      ],
      [
        "test/retention/Sweeper.test.ts",
        "removes only raw messages without a row after seven days, and reports how many there are"
      ],
      ["test/retention/Sweeper.test.ts", "counts the log records without a row"],
      ["test/schedule/SetBackClock.test.ts", "sees new rules within a second, and finds the work of its workers"]
    ]
  },
  {
    promise: "A wrong setting removes no mail",
    tests: [
      ["test/providers/storage/RawStore.test.ts", "belongs to the first database that asks"],
      [
        "test/retention/Sweeper.test.ts",
        "knows a raw store of another database by its mark, and says how to give it up"
      ],
      [
        "test/retention/Sweeper.test.ts",
        "sweeps at its start and every 10 min, orphans daily, survives a failed sweep, and spares a foreign raw store"
      ]
    ]
  },
  {
    promise: "A raw message is returned unchanged or with an error",
    tests: [
      ["test/providers/storage/Segments.test.ts", "with a changed byte"],
      ["test/providers/storage/Segments.test.ts", "with the record of another message"],
      ["test/providers/storage/Segments.test.ts", "in a truncated segment"],
      [
        "test/reading/Reader.test.ts",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the title stands so in the test
        "makes an event of the envelope of a message in ${where} that was ${what}, and serves no bytes of it"
      ],
      [
        "test/reading/Reader.test.ts",
        "parses a message in full whose raw message is missing, and comes back within a day"
      ],
      [
        "test/providers/storage/RawStoreS3.test.ts",
        "stores nothing of an upload damaged in transit, and stores the retry"
      ]
    ]
  },
  {
    promise: "A shutdown loses nothing",
    tests: [
      [
        "test/flows/shutdown.test.ts",
        "stops a process with hanging requests within 30 s, and the next start resumes the returned deliveries"
      ],
      ["test/flows/shutdown.test.ts", "finishes a message during DATA and accepts none after it"]
    ]
  },
  {
    promise: "/ready answers 503 if the process cannot store mail",
    tests: [
      [
        "test/health/Readiness.test.ts",
        "if database and raw store accept writes, or without the role smtp the database alone"
      ],
      ["test/health/Readiness.test.ts", "only if the database accepts writes"],
      ["test/health/Readiness.test.ts", "is 503 within a few seconds while the disk of raw messages hangs"],
      ["test/health/Readiness.test.ts", "is 503 while the raw message disk is full, and 200 again afterwards"],
      ["test/health/Readiness.test.ts", "is 503 while the bucket is gone, and 200 again afterwards"],
      ["test/database/Standby.postgres.test.ts", "is ready, and a standby is not"],
      [
        "test/database/Standby.postgres.test.ts",
        "is not ready if a crash or a failover would lose mail that it confirmed"
      ],
      ["test/database/Standby.postgres.test.ts", "is not ready while commits wait for a standby that is gone"],
      [
        "test/database/Rights.postgres.test.ts",
        "makes /ready fail and inlet doctor name each missing right, until it has them"
      ],
      [
        "test/database/Rights.postgres.test.ts",
        "A role with exactly the rights that /ready looks for takes a mail and delivers it"
      ]
    ]
  },
  {
    promise: "Only one process opens an embedded database",
    tests: [
      [
        "test/database/FolderLock.test.ts",
        "has one owner when several processes start after a killed one, and is released again"
      ],
      ["test/database/FolderLock.test.ts", "is not taken from a process that does not answer or is stopped"],
      ["test/flows/processes.test.ts", "belongs to one process, and a second one refuses to start"]
    ]
  },
  {
    promise: "A start that cannot succeed ends with one line",
    tests: [
      [
        "test/database/InitialDatabase.test.ts",
        "refuses a folder with other files, a damaged one or a foreign one, with the error of PostgreSQL and the next step"
      ],
      ["test/settings/LocalSecret.test.ts", "rejects an empty file with the next step"]
    ]
  },
  {
    promise: "A restored backup works",
    tests: [
      ["test/flows/backup.postgres.test.ts", "from pg_dump and a copy of RAW_DIR runs in another database and folder"],
      ["test/flows/backup.test.ts", "from a copy of DATA_DIR after a stop runs in another folder"]
    ]
  },
  {
    promise: "An ordered certificate is renewed in time and without a restart",
    tests: [
      [
        "test/flows/certificate.test.ts",
        "gets one as soon as the authority reaches the API, and presents it without a restart"
      ],
      [
        "test/flows/certificate.test.ts",
        "has a certificate that a Postfix with smtp_tls_security_level=verify accepts"
      ],
      [
        "test/certificates/Ordering.test.ts",
        "comes at two thirds of the life of the certificate, with the same account and another key"
      ],
      ["test/certificates/Ordering.test.ts", "is placed once by two processes that start together"],
      ["test/certificates/Ordering.test.ts", "is continued by another process after a kill, and not placed again"],
      ["test/certificates/Ordering.test.ts", "leaves the certificate in use, and says what to do"],
      [
        "test/certificates/Ordering.test.ts",
        "forward by a year orders one certificate, and at most four in a week while the clock is wrong"
      ],
      ["test/certificates/Ordering.test.ts", "is in no log line and in nothing that the authority is sent"]
    ]
  }
]

/** The anchor of a heading. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replaceAll(" ", "-")

/** Renders docs/proofs.md. */
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
