import { request } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const nobodys = "5b0e7c1e-0f5a-4c63-9a55-3d1f3a2c9e10"

/** Downloads bytes. */
const download = Effect.fnUntraced(function* (inbox: Mailbox.Inbox, path: string) {
  const inlet = yield* TestInlet
  return yield* Effect.callback<{
    readonly status: number | undefined
    readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
    readonly bytes: Buffer
  }>((resume) => {
    request(
      `${inlet.url}/api/domains/${inbox.domainId}/events/${path}`,
      { agent: false, headers: { authorization: `Bearer ${inbox.key}` } },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", () =>
          resume(
            Effect.succeed({
              status: response.statusCode,
              headers: response.headers,
              bytes: Buffer.concat(chunks)
            })
          )
        )
      }
    ).end()
  })
})

layer(TestInlet.layer(), { excludeTestServices: true })("An event", (it) => {
  it.effect("has the same form as in the list", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "One" })
      const [event] = yield* Mailbox.events(inbox)
      const { headers, json, status } = yield* inlet.call(
        "GET",
        `/api/domains/${inbox.domainId}/events/${event.event_id}`,
        {
          key: inbox.key
        }
      )
      assert.strictEqual(status, 200)
      assert.match(headers["content-type"] ?? "", /^application\/json/)
      assert.deepStrictEqual(json, event)
      assert.strictEqual(json.event, "inbound.email.received")
      assert.strictEqual(json.rawRef, `inbound/${inbox.domainId}/${json.inbound_email_id}.eml`)
      assert.deepStrictEqual(json.delivery, {
        status: "held",
        attempts: 0,
        nextAttemptAt: null,
        deliveredAt: null,
        lastError: null
      })
    })
  )

  it.effect("with an unknown id answers 404, and so do its message and attachments", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      for (const path of ["", "/raw", "/attachments/0"]) {
        const { json, status } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}/events/${nobodys}${path}`, {
          key: inbox.key
        })
        assert.strictEqual(status, 404)
        assert.deepStrictEqual(json, {
          error: "No event with this id at this domain. GET /api/domains/{id}/events lists them"
        })
      }
    })
  )

  it.effect("has a raw message to download, with our header fields in front of the original bytes", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const message = "From: a@b.example\r\nSubject: raw\r\n\r\nTschüß\r\n.\r\n..\r\n\u0001\r\n"
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message), /^250/)
      const [event] = yield* Mailbox.events(inbox)
      const { bytes, headers, status } = yield* download(inbox, `${event.event_id}/raw`)
      assert.strictEqual(status, 200)
      assert.match(String(headers["content-type"]), /^message\/rfc822/)
      assert.strictEqual(headers["content-disposition"], `attachment; filename="${event.event_id}.eml"`)
      assert.strictEqual(headers["x-content-type-options"], "nosniff")
      assert.match(
        bytes.toString(),
        /^Authentication-Results: mx\.inlet\.test;[\s\S]*?\r\nReturn-Path: <sender@sender\.example>\r\nReceived: from /
      )
      assert.isTrue(bytes.subarray(-Buffer.byteLength(message)).equals(Buffer.from(message)))
    })
  )

  it.effect("has attachments to download by index with their own type", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
      yield* Mail.send(inlet.smtpPort, {
        to: inbox.address,
        attachments: [
          { filename: "bytes.bin", content: every, contentType: "application/octet-stream" },
          { filename: "page.html", content: "<script>alert(1)</script>", contentType: "text/html" },
          { filename: "empty.txt", content: "", contentType: "text/plain" }
        ]
      })
      const [event] = yield* Mailbox.events(inbox)
      const listed: ReadonlyArray<Record<string, unknown>> = event.attachments
      assert.deepStrictEqual(
        listed.map(({ contentType, filename, index, size }) => [index, filename, contentType, size]),
        [
          [0, "bytes.bin", "application/octet-stream", 256],
          [1, "page.html", "text/html", 25],
          [2, "empty.txt", "text/plain", 0]
        ]
      )

      const binary = yield* download(inbox, `${event.event_id}/attachments/0`)
      assert.strictEqual(binary.status, 200)
      assert.isTrue(binary.bytes.equals(every))
      assert.strictEqual(binary.headers["content-length"], "256")

      const page = yield* download(inbox, `${event.event_id}/attachments/1`)
      assert.match(String(page.headers["content-type"]), /^text\/html/)
      assert.match(String(page.headers["content-disposition"]), /^attachment; filename="page\.html"/)
      assert.strictEqual(page.headers["x-content-type-options"], "nosniff")
      assert.match(String(page.headers["content-security-policy"]), /sandbox/)
      assert.strictEqual(page.bytes.toString(), "<script>alert(1)</script>")

      assert.strictEqual((yield* download(inbox, `${event.event_id}/attachments/2`)).bytes.length, 0)
    })
  )

  it.effect("answers 404 to an index without an attachment", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, attachments: [{ filename: "a.txt", content: "a" }] })
      const [event] = yield* Mailbox.events(inbox)
      for (const index of ["1", "-1", "0.5", "x", "99999", "1e9", "a.txt", "%00", "NaN"]) {
        const { json, status } = yield* inlet.call(
          "GET",
          `/api/domains/${inbox.domainId}/events/${event.event_id}/attachments/${index}`,
          { key: inbox.key }
        )
        assert.strictEqual(status, 404, index)
        assert.deepStrictEqual(Object.keys(json), ["error"])
      }
    })
  )

  it.effect("keeps hostile file names and types out of download headers", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const names = [
        "../../etc/passwd",
        "C:\\windows\\system.ini",
        'a"; filename="b.exe',
        "line\r\nSet-Cookie: a=b",
        "Grüße 🛩.txt",
        "x".repeat(300),
        "100%.txt"
      ]
      yield* Mail.send(inlet.smtpPort, {
        to: inbox.address,
        attachments: names.map((filename) => ({ filename, content: "x", contentType: "text/plain" }))
      })
      const [event] = yield* Mailbox.events(inbox)
      for (const [index] of names.entries()) {
        const { headers, status } = yield* download(inbox, `${event.event_id}/attachments/${index}`)
        assert.strictEqual(status, 200)
        assert.notProperty(headers, "set-cookie")
        const disposition = String(headers["content-disposition"])
        assert.match(
          disposition,
          /^attachment; filename="[\x20-\x21\x23-\x5b\x5d-\x7e]{1,200}"; filename\*=UTF-8''[\w.!~*%-]+$/
        )
        assert.notMatch(disposition, /filename="[^"]*[/\\]/)
        assert.notMatch(disposition, /%2F|%5C|%0D|%0A/i)
      }
      const utf8 = yield* download(inbox, `${event.event_id}/attachments/4`)
      assert.include(
        String(utf8.headers["content-disposition"]),
        `filename*=UTF-8''${encodeURIComponent("Grüße 🛩.txt")}`
      )
    })
  )

  it.effect("serves a download without a valid type as application/octet-stream", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const message = [
        "From: a@b.example",
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        'Content-Type: "><script>/x; name=a',
        "Content-Disposition: attachment; filename=a",
        "",
        "content",
        "--b--",
        ""
      ].join("\r\n")
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message)
      const [event] = yield* Mailbox.events(inbox)
      const { bytes, headers, status } = yield* download(inbox, `${event.event_id}/attachments/0`)
      assert.strictEqual(status, 200)
      assert.match(String(headers["content-type"]), /^(application\/octet-stream|text\/plain)/)
      assert.strictEqual(bytes.toString().trim(), "content")
    })
  )
})
