import { inspect } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Inlet, NoMail, UnwantedMail } from "../../src/client.ts"
import { eventually } from "../Eventually.ts"
import { age } from "../MailAge.ts"
import { TestInlet } from "../TestInlet.ts"
import { failure } from "./Failure.ts"
import * as ScriptedService from "./ScriptedService.ts"

/** The refusal of a call that says what came: on a busy machine the list after the wait can take more than its second. */
const refusal = (call: () => unknown) => eventually(failure(call), (error) => !`${error}`.includes("did not say"))

const begin = Effect.gen(function* () {
  const { inbox, key, url } = yield* Effect.gen(function* () {
    const { inbox, url } = yield* TestInlet
    const made = yield* inbox()
    return { inbox: made, key: made.key, url }
  })
  const inlet = new Inlet({ url, apiKey: key, timeout: 10_000 })
  const one = yield* Effect.promise(() => inlet.inbox())
  /** Sends a mail to this address and waits for its event. */
  const mail = (mail: Parameters<Inlet["simulate"]>[1], recipient = one.address) =>
    Effect.promise(() => inlet.simulate(inbox.domainId, mail, { recipient, wait: 10 }))
  return { inlet, inbox: one, mail, domain: inbox.domain }
})

const code = (value: string, more: object = {}) => ({
  subject: "Hi",
  text: `Your verification code is ${value}.`,
  ...more
})
const link = (url: string, more: object = {}) => ({
  subject: "Hi",
  text: `Verify your email address:\n\n${url}\n`,
  ...more
})

const verify = "https://app.acme.example/verify?token=b7f3c2d19e8a4560"

layer(TestInlet.layer({ SENDER_CHECKS: "false", MAX_EMAILS_PER_DAY: "0" }), {
  excludeTestServices: true
})("An inbox of the client", (it) => {
  it.effect("waits for the next code, and then for the one after it", () =>
    Effect.gen(function* () {
      const { inbox, mail } = yield* begin
      const first = inbox.code()
      yield* mail({ subject: "Welcome", text: "Nothing to type here." })
      yield* mail(code("111 222"))
      assert.strictEqual(yield* Effect.promise(() => first), "111222")
      yield* mail(code("333444"))
      yield* mail(code("555666"))
      assert.strictEqual(yield* Effect.promise(() => inbox.code()), "333444")
      assert.strictEqual(yield* Effect.promise(() => inbox.code()), "555666")
    })
  )

  it.effect("returns another mail to each of several calls at once", () =>
    Effect.gen(function* () {
      const { inbox, mail } = yield* begin
      const codes = Effect.promise(() => Promise.all([inbox.code(), inbox.code({ subject: "hi" })]))
      const mails = Effect.promise(() => Promise.all([inbox.mail(), inbox.mail()]))
      const asked = yield* Effect.forkChild(Effect.all([codes, mails], { concurrency: "unbounded" }))
      yield* mail(code("111222"))
      yield* mail(code("333444"))
      const [values, events] = yield* Fiber.join(asked)
      assert.sameMembers(values, ["111222", "333444"])
      assert.strictEqual(new Set(events.map(({ event_id }) => event_id)).size, 2)
    })
  )

  it.effect("returns no code twice, also with other filters", () =>
    Effect.gen(function* () {
      const { inbox, mail } = yield* begin
      yield* mail(code("111222"))
      assert.strictEqual(yield* Effect.promise(() => inbox.code()), "111222")
      const error = yield* refusal(() => inbox.code({ subject: "hi", timeout: 100 }))
      assert.instanceOf(error, NoMail)
      assert.match(error.message, /\nWithout `after`, code\(\) returns codes of the last 60s, each once$/)
    })
  )

  it.effect("returns a code of the last 60 s, and an older one only after a mark", () =>
    Effect.gen(function* () {
      const { inbox, inlet, mail } = yield* begin
      const { cursor_now: mark } = yield* Effect.promise(() => inlet.events.list(inbox.domainId, { limit: 1 }))
      const old = yield* mail(code("111111"))
      yield* age(old.events[0]?.event_id ?? "", 91)
      assert.instanceOf(yield* refusal(() => inbox.code({ timeout: 100 })), NoMail)
      for (const _ of [1, 2]) {
        assert.strictEqual(yield* Effect.promise(() => inbox.code({ after: mark })), "111111")
      }
      const fresh = yield* mail(code("222222"))
      yield* age(fresh.events[0]?.event_id ?? "", 40)
      assert.strictEqual(yield* Effect.promise(() => inbox.code()), "222222")
    })
  )

  it.effect("returns codes, links and mails in any order, also from one mail", () =>
    Effect.gen(function* () {
      const { inbox, mail } = yield* begin
      yield* mail({ sample: "reset-link" })
      yield* mail({ ...link(verify), subject: "Verify" })
      yield* mail({
        ...code("482913"),
        text: `Your verification code is 482913.\n\nVerify your email address:\n\n${verify}2\n`
      })
      assert.strictEqual(yield* Effect.promise(() => inbox.code()), "482913")
      assert.strictEqual(yield* Effect.promise(() => inbox.link("verify")), verify)
      assert.strictEqual(yield* Effect.promise(() => inbox.link("verify")), `${verify}2`)
      assert.match(yield* Effect.promise(() => inbox.link()), /password\/reset/)
      const whole = yield* Effect.promise(() => inbox.mail({ subject: "verify" }))
      assert.deepStrictEqual([whole.subject, whole.recipient, whole.delivery.status], ["Verify", inbox.address, "held"])
      assert.include(whole.text, verify)
    })
  )

  it.effect("returns nothing of mail that a sender rule holds, whether it came before the call or during it", () =>
    Effect.gen(function* () {
      const { inbox, inlet, mail } = yield* begin
      const { cursor_now: after } = yield* Effect.promise(() => inlet.events.list(inbox.domainId, { limit: 1 }))
      yield* Effect.promise(() =>
        inlet.senders.create(inbox.domainId, { list: "block", value: "evil@attacker.example" })
      )
      const held = { from: "evil@attacker.example", ...code("777888"), html: `<a href="${verify}">Verify</a>` }
      yield* mail(held)
      for (const call of [
        () => inbox.code({ timeout: 100 }),
        () => inbox.code({ after, timeout: 100 }),
        () => inbox.link(undefined, { timeout: 100 }),
        () => inbox.mail({ timeout: 100 })
      ]) {
        const error = yield* refusal(call)
        assert.instanceOf(error, NoMail)
        assert.match(
          error.message,
          /Nothing has come to it\nMail came that a sender rule, the mail scanner or the loop guard holds/
        )
      }
      const waited = yield* Effect.promise(() => inlet.events.wait(inbox.domainId, { after }, { timeout: 100 }))
      assert.deepStrictEqual(waited.events, [])
      const all = yield* Effect.promise(() => inlet.events.wait(inbox.domainId, { after, trust: "held" }))
      assert.lengthOf(all.events, 1)

      const during = yield* Effect.forkChild(refusal(() => inbox.code({ timeout: 1_000 })))
      yield* mail(held)
      const error = yield* Fiber.join(during)
      assert.instanceOf(error, NoMail)
      assert.match(error.message, /Mail came that a sender rule, the mail scanner or the loop guard holds/)
    })
  )

  it.effect("has an unused address without a request, and receives no other mail", () =>
    Effect.gen(function* () {
      const { domain, inbox, inlet, mail } = yield* begin
      const inboxes = yield* Effect.promise(() => Promise.all(Array.from({ length: 100 }, () => inlet.inbox())))
      assert.lengthOf(new Set(inboxes.map(({ address }) => address)), 100)
      for (const { address } of inboxes) assert.match(address, new RegExp(`^[a-z0-9]{12}@${domain}$`))
      const [other] = inboxes
      yield* mail(code("999999"), other?.address)
      yield* mail(code("123123"))
      assert.strictEqual(yield* Effect.promise(() => inbox.code()), "123123")
    })
  )

  it.effect("lists the mails that arrived when a wait times out, without codes and links", () =>
    Effect.gen(function* () {
      const { inbox, mail } = yield* begin
      const empty = yield* refusal(() => inbox.code({ timeout: 100 }))
      assert.instanceOf(empty, NoMail)
      assert.strictEqual(empty.message, `${inbox.address} has not had a code within 0.1 s. Nothing has come to it`)
      const message = [
        "From: Acme <hi@acme.example>",
        "Subject: =?utf-8?q?Welcome_=1B[31m?=",
        "",
        `Verify your email address:\n\n${verify}\n`
      ]
      yield* mail(new TextEncoder().encode(message.join("\r\n")))
      yield* mail({ ...code("482913"), subject: "482913 is your code" })
      const error = yield* refusal(() => inbox.link("reset", { from: "hi@acme.example", timeout: 100 }))
      assert.instanceOf(error, NoMail)
      const [first, second, third, ...others] = error.message.split("\n")
      assert.strictEqual(
        first,
        `${inbox.address} has not had a reset link, from "hi@acme.example" within 0.1 s. What has come to it:`
      )
      assert.match(second ?? "", /^- 20\S+Z "Welcome.*" from "hi@acme\.example": verify link$/)
      assert.match(third ?? "", /^- 20\S+Z "… is your code" from "sender@simulate\.example": code$/)
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(
        error.arrived.map(({ has }) => has),
        [["verify link"], ["code"]]
      )
      const printed = inspect(error, { depth: 9, showHidden: true })
      for (const secret of ["482913", "b7f3c2d19e8a4560", "\u001b[31m"]) assert.notInclude(printed, secret)
    })
  )

  it.effect("ends at its timeout or abort, also if the service says nothing any more", () =>
    Effect.gen(function* () {
      const empty = { body: { events: [], next_cursor: null, cursor_now: "now" } }
      const { requests, url } = yield* ScriptedService.serve(
        { body: { domains: [{ id: "d", domain: "d.example", status: "live" }] } },
        empty,
        { ...empty, delay: 50 },
        { isSilent: true }
      )
      const inlet = new Inlet({ url, apiKey: "ak_live_1" })
      const inbox = yield* Effect.promise(() => inlet.inbox())
      const error = yield* failure(() => inbox.mail({ timeout: 20 }))
      assert.instanceOf(error, NoMail)
      assert.match(error.message, /within 0 s\. The service did not say what has come to it$/)
      assert.strictEqual(requests.length, 5)
      const aborted = yield* failure(() => inbox.mail({ signal: AbortSignal.timeout(50) }))
      assert.propertyVal(aborted, "name", "TimeoutError")
    }).pipe(Effect.scoped)
  )

  it.effect("returns a mail at the next call if its event could not be read", () =>
    Effect.gen(function* () {
      const listed = (...ids: ReadonlyArray<string>) => ({
        body: { events: ids.map((event_id) => ({ event_id })), next_cursor: null, cursor_now: "now" }
      })
      const { requests, url } = yield* ScriptedService.serve(
        { body: { domains: [{ id: "d", domain: "d.example", status: "live" }] } },
        listed(),
        listed("a", "b"),
        { status: 500, body: { error: "A bug" } },
        listed("a", "b"),
        { body: { event_id: "a" } },
        listed("b"),
        { delay: 20, body: { event_id: "b" } }
      )
      const inlet = new Inlet({ url, apiKey: "ak_live_1" })
      const inbox = yield* Effect.promise(() => inlet.inbox())
      assert.propertyVal(yield* failure(() => inbox.mail()), "status", 500)
      for (const id of ["a", "b"]) {
        assert.deepInclude(yield* Effect.promise(() => inbox.mail()), { event_id: id })
      }
      const after = requests.flatMap(({ url }) => new URL(url, "http://localhost").searchParams.get("after") ?? [])
      assert.deepStrictEqual(after, ["now", "now", "a"])
    }).pipe(Effect.scoped)
  )

  it.effect("refuses a local part that no address has", () =>
    Effect.gen(function* () {
      const { inlet } = yield* begin
      for (const localPart of ["", "a b", "x@y", "a,b"]) {
        const error = yield* failure(() => inlet.inbox({ localPart }))
        assert.instanceOf(error, TypeError, localPart)
        assert.match(`${error}`, /localPart: Expected the part of an address before the @/)
      }
    })
  )

  it.effect("asserts that no more mail arrives, except ignored mail", () =>
    Effect.gen(function* () {
      const { inbox, mail } = yield* begin
      yield* Effect.promise(() => inbox.none(50))
      yield* mail(code("482913"))
      yield* Effect.promise(() => inbox.code())
      yield* Effect.promise(() => inbox.none(50))
      const waiting = failure(() => inbox.none(10_000))
      const [error] = yield* Effect.all([waiting, mail({ subject: "One more" })], { concurrency: 2 })
      assert.instanceOf(error, UnwantedMail)
      assert.match(error.message, /where no more was expected:\n- \S+ "One more" from /)
      yield* Effect.promise(() => inbox.none(50, { subject: "another" }))
    })
  )

  it.effect("at a chosen address ignores earlier mail", () =>
    Effect.gen(function* () {
      const { domain, inlet, mail } = yield* begin
      const address = `qa@${domain}`
      yield* mail(code("111111"), address)
      const inbox = yield* Effect.promise(() => inlet.inbox({ localPart: "qa" }))
      assert.strictEqual(inbox.address, address)
      yield* mail(code("222222"), address)
      assert.strictEqual(yield* Effect.promise(() => inbox.code()), "222222")
    })
  )

  it.effect("aborts its waits on its signal and on the signal of a call", () =>
    Effect.gen(function* () {
      const { inlet } = yield* begin
      const over = new AbortController()
      const inbox = yield* Effect.promise(() => inlet.inbox({ signal: over.signal }))
      const own = AbortSignal.timeout(50)
      assert.strictEqual(yield* failure(() => inbox.mail({ signal: own })), own.reason)
      const end = Effect.delay(
        Effect.sync(() => over.abort()),
        "50 millis"
      )
      const [error] = yield* Effect.all([failure(() => inbox.code()), end], { concurrency: 2 })
      assert.strictEqual(error, over.signal.reason)
    })
  )

  it.effect("uses the instant inbox if no domain takes mail, and requires a domain if that is disabled", () =>
    Effect.gen(function* () {
      const { url, workspace } = yield* TestInlet
      const { key: apiKey } = yield* workspace
      yield* Effect.promise(() => new Inlet({ url, apiKey }).domains.create("not-yet.example"))
      const inboxes = yield* Effect.forEach([1, 2], () => Effect.promise(() => new Inlet({ url, apiKey }).inbox()))
      const domains = yield* Effect.promise(() => new Inlet({ url, apiKey }).domains.list())
      assert.deepStrictEqual(domains.map(({ status }) => status).toSorted(), ["pending_verification", "verified"])
      const instant = domains.find(({ status }) => status === "verified")
      assert.deepStrictEqual(
        inboxes.map(({ domainId }) => domainId),
        [instant?.id, instant?.id]
      )

      const disabled = domains.map((domain) => ({ ...domain, status: "disabled" }))
      const scripted = yield* ScriptedService.serve(
        { body: { domains: [] } },
        { body: { domain_id: instant?.id, domain: instant?.domain } },
        { body: { ...instant, status: "disabled" } },
        { body: { domains: disabled } }
      )
      const error = yield* failure(() => new Inlet({ url: scripted.url, apiKey }).inbox())
      assert.include(`${error}`, `${instant?.domain} (disabled)`)
    }).pipe(Effect.scoped)
  )

  it.effect("requests the domain once, and requires a name if there are several", () =>
    Effect.gen(function* () {
      const domains = [
        { id: "1", domain: "new.example", status: "pending_verification" },
        { id: "2", domain: "one.example", status: "live" },
        { id: "3", domain: "two.example", status: "verified" }
      ]
      const one = { domains: domains.slice(1, 2), events: [], next_cursor: null, cursor_now: "now" }
      const { requests, url } = yield* ScriptedService.serve({ status: 500 }, { body: one })
      const named = new Inlet({ url, apiKey: "ak_live_1" })
      yield* failure(() => named.inbox({ domain: "one.example" }))
      const [first, same] = yield* Effect.promise(() =>
        Promise.all([named.inbox({ domain: "one.example" }), named.inbox({ domain: "one.example" })])
      )
      assert.deepStrictEqual([first?.domainId, same?.domainId], ["2", "2"])
      assert.deepStrictEqual(
        requests.map(({ url }) => url),
        [...Array(2).fill("/api/domains?domain=one.example"), "/api/domains/2/events?limit=1&view=brief"]
      )
      const several = yield* ScriptedService.serve({ body: { domains, next_cursor: null } })
      const inlet = new Inlet({ url: several.url, apiKey: "ak_live_1" })
      const error = yield* failure(() => inlet.inbox())
      assert.instanceOf(error, TypeError)
      assert.strictEqual(
        error.message,
        "domain: Expected one that takes mail, of new.example (pending_verification), one.example (live), two.example (verified)"
      )
    }).pipe(Effect.scoped)
  )
})
