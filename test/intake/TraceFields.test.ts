import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as TraceFields from "../../src/intake/TraceFields.ts"
import { InboundEmailId } from "../../src/model/InboundEmail.ts"

const id = InboundEmailId.make("01981c9e-4f00-7000-8000-000000000001")

const render = (options: {
  readonly from?: string
  readonly helo?: string
  readonly remoteAddress?: string
  readonly recipients?: ReadonlyArray<string>
  readonly transmission?: Partial<TraceFields.Transmission>
}) =>
  TraceFields.render({
    id,
    envelope: {
      from: options.from ?? "sender@sender.example",
      helo: options.helo ?? "client.example",
      remoteAddress: options.remoteAddress ?? "203.0.113.9"
    },
    recipients: options.recipients ?? ["someone@example.com"],
    mxHost: "mx.example.com",
    receivedAt: DateTime.makeUnsafe("2026-01-31T12:00:00Z"),
    transmission: { extended: true, encrypted: false, utf8: false, tls: null, ...options.transmission }
  })

describe("Trace fields", () => {
  it("are Return-Path and Received as in RFC 5321", () => {
    assert.strictEqual(
      render({}),
      [
        "Return-Path: <sender@sender.example>",
        "Received: from client.example ([203.0.113.9])",
        `\tby mx.example.com with ESMTP id ${id}`,
        "\tfor <someone@example.com>;",
        "\tSat, 31 Jan 2026 12:00:00 +0000",
        ""
      ].join("\r\n")
    )
  })

  it.each([
    [{ extended: false }, "SMTP"],
    [{ extended: false, encrypted: true }, "SMTP"],
    [{}, "ESMTP"],
    [{ encrypted: true }, "ESMTPS"],
    [{ utf8: true }, "UTF8SMTP"],
    [{ utf8: true, encrypted: true }, "UTF8SMTPS"]
  ])("have %j as protocol %s", (transmission, name) => {
    assert.include(render({ transmission }), ` with ${name} id `)
  })

  it("have an IPv6 client as an address literal", () => {
    assert.include(render({ remoteAddress: "2001:db8::1" }), "([IPv6:2001:db8::1])")
  })

  it("remain two fields of short lines for any client name", () => {
    const hostile = "x\r\nSubject: forged\r\n\r\n(<>)\u0000;\t".repeat(200)
    const fields = render({
      from: `${hostile}@sender.example`,
      helo: hostile,
      remoteAddress: hostile,
      recipients: [`${hostile}@example.com`]
    })
    const lines = fields.split("\r\n")
    assert.strictEqual(lines.length, 6)
    assert.match(lines[0] ?? "", /^Return-Path: <[^<>]*>$/)
    assert.match(lines[1] ?? "", /^Received: from [\w.:[\]-]+ \(\[[\da-fA-F.:IPv]*\]\)$/)
    assert.isTrue(lines.every((line) => Buffer.byteLength(line) <= 998 && !/[\r\n\0]/.test(line)))
  })

  it("have unknown for a client without a name", () => {
    assert.include(render({ helo: "()" }), "Received: from unknown ([203.0.113.9])")
  })
})
