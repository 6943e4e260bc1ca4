import { request } from "node:http"
import { Array, Effect, type Scope } from "effect"
import { DnsServer } from "../test/DnsServer.ts"
import { eventually } from "../test/Eventually.ts"
import type * as InletProcess from "../test/InletProcess.ts"
import * as Mail from "../test/Mail.ts"
import * as SmtpDialog from "../test/SmtpDialog.ts"
import * as UnreadAnswer from "../test/UnreadAnswer.ts"
import { WebhookReceiver } from "../test/WebhookReceiver.ts"

/** An attack on the service while a tenant uses it. */
export interface Attack {
  readonly title: string
  /** Prepares the attack. The returned effect attacks until it is interrupted. */
  readonly prepare: (
    inlet: InletProcess.InletProcess
  ) => Effect.Effect<Effect.Effect<unknown, never, Scope.Scope>, never, Scope.Scope | DnsServer>
}

const heavyMails = 10

const unread: Attack = {
  title: "58 clients request pages of large events, with a key and in a demo inbox, and read nothing",
  prepare: Effect.fnUntraced(function* (inlet) {
    const { cookie, domainId, key } = yield* heavy(inlet)
    const port = Number(new URL(inlet.url).port)
    const ask = (path: string, headers: Readonly<Record<string, string>>) =>
      Effect.forever(
        Effect.scoped(Effect.andThen(UnreadAnswer.ask(port, path, { headers, localAddress: "127.0.0.9" }), pause))
      )
    const pause = Effect.sleep("10 seconds")
    return Effect.all(
      [
        Array.makeBy(29, () => ask("/api/demo/events", { cookie })),
        Array.makeBy(29, () =>
          ask(`/api/domains/${domainId}/events?limit=${heavyMails}`, { authorization: `Bearer ${key}` })
        )
      ].flat(),
      { concurrency: "unbounded", discard: true }
    )
  })
}

const parallel: Attack = {
  title: "one tenant lists large events with 40 concurrent requests",
  prepare: Effect.fnUntraced(function* (inlet) {
    const { domainId, key } = yield* heavy(inlet)
    return Effect.forEach(
      Array.range(1, 40),
      () => Effect.forever(read(`${inlet.url}/api/domains/${domainId}/events?limit=100`, key)),
      { concurrency: "unbounded", discard: true }
    )
  })
}

const hanging: Attack = {
  title: "500 domains of 100 workspaces have webhooks that never answer, and all receive mail continuously",
  prepare: Effect.fnUntraced(function* (inlet) {
    const webhook = yield* WebhookReceiver.make
    yield* webhook.answerAlways(() => {})
    const names = yield* Effect.forEach(Array.range(1, 100), (number) => five(inlet, number, webhook.url), {
      concurrency: 8
    })
    const groups = Array.chunksOf(
      names.flat().map((name) => `hang@${name}`),
      100
    )
    return Effect.forever(
      Effect.andThen(
        Effect.forEach(groups, (to) => Effect.ignore(Mail.send(inlet.smtpPort, { to, subject: "hang" })), {
          concurrency: "unbounded"
        }),
        Effect.sleep("3 seconds")
      )
    )
  })
}

const idle: Attack = {
  title: "1,000 silent SMTP connections from 8 addresses, which reconnect",
  prepare: (inlet) =>
    Effect.succeed(
      Effect.forEach(
        Array.range(0, 999),
        (number) =>
          Effect.forever(
            Effect.andThen(
              Effect.scoped(silence(inlet.smtpPort, `127.0.1.${1 + (number % 8)}`)),
              Effect.sleep("1 second")
            )
          ),
        { concurrency: "unbounded", discard: true }
      )
    )
}

export const all: ReadonlyArray<Attack> = [unread, parallel, hanging, idle]

/** Opens a connection and stays silent until the server closes it. */
const silence = Effect.fnUntraced(function* (port: number, localAddress: string) {
  const { greeting, reply } = yield* SmtpDialog.open(port, { localAddress })
  if (!greeting.startsWith("220")) return
  while ((yield* reply).startsWith("no reply")) {}
})

/** The names of five verified domains of a new workspace with this webhook. */
const five = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess, number: number, webhookUrl: string) {
  const dns = yield* DnsServer
  const { json } = yield* inlet.call("POST", "/api/workspaces", { body: { name: `hanging ${number}` } })
  const key: string = json.api_key
  return yield* Effect.forEach(
    Array.range(1, 5),
    Effect.fnUntraced(function* (which) {
      const name = `hang-${number}-${which}.example`
      const added = yield* inlet.call("POST", "/api/domains", { key, body: { domain: name } })
      const { id, txt_name, txt_value } = added.json
      yield* dns.answer("TXT", txt_name, { text: [txt_value] })
      yield* inlet.call("POST", `/api/domains/${id}/verify`, { key })
      const { status, text } = yield* inlet.call("PATCH", `/api/domains/${id}/delivery`, { key, body: { webhookUrl } })
      if (status !== 200) return yield* Effect.die(new Error(`A domain was not created: ${status} ${text}`))
      return name
    })
  )
})

/** Sends a request and discards the answer. */
const read = (url: string, key: string) =>
  Effect.callback<void>((resume) => {
    const asked = request(url, { agent: false, localAddress: "127.0.0.9", headers: { authorization: `Bearer ${key}` } })
    asked.on("response", (response) => response.resume())
    asked.on("error", () => {})
    asked.on("close", () => resume(Effect.void))
    asked.end()
    return Effect.sync(() => void asked.destroy())
  })

/** A workspace and a demo inbox with the largest possible events. */
const heavy = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess) {
  const { json } = yield* inlet.call("POST", "/api/workspaces", { body: { name: "attacker" } })
  const key: string = json.api_key
  const inbox = yield* inlet.call("POST", "/api/instant-inbox", { key })
  const demo = yield* inlet.call("POST", "/api/demo/inbox")
  const cookie = demo.headers["set-cookie"]?.split(";")[0] ?? ""
  // A byte of a sender becomes three at most, in this charset.
  const content = Buffer.alloc(1_000_000, "\x80", "latin1")
  for (const to of [inbox.json.address, demo.json.address]) {
    yield* Effect.forEach(
      Array.range(1, heavyMails),
      (number) =>
        Mail.send(inlet.smtpPort, {
          envelope: { from: "sender@sender.example", to },
          raw: Buffer.concat([
            Buffer.from(
              `From: a@sender.example\r\nMessage-ID: <${number}@siege>\r\nContent-Type: text/plain; charset=windows-1252\r\n\r\n`
            ),
            content
          ])
        }),
      { concurrency: 2 }
    ).pipe(Effect.orDie)
  }
  const domainId: string = inbox.json.domain_id
  yield* eventually(listed(inlet, key, domainId), (count) => count === heavyMails, "60 seconds")
  return { key, domainId, cookie }
})

/** The number of events of a domain. A page holds one or two of them, so that a client must wait for the next page. */
const listed = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess, key: string, domainId: string) {
  let count = 0
  for (let cursor: string | null = ""; cursor !== null; ) {
    const path: string = `/api/domains/${domainId}/events${cursor === "" ? "" : `?cursor=${cursor}`}`
    const answered = yield* eventually(inlet.call("GET", path, { key }), ({ status }) => status === 200, "60 seconds")
    count += answered.json.events.length
    cursor = answered.json.next_cursor
  }
  return count
})
