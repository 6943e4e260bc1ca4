import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as WebhookUrl from "../../src/webhooks/WebhookUrl.ts"

const development = { production: false }
const inProduction = { production: true }

const longest = `https://example.com/${"a".repeat(2_048 - "https://example.com/".length)}`

const accepted: ReadonlyArray<readonly [typed: string, normal: string]> = [
  ["https://example.com/inbound", "https://example.com/inbound"],
  ["HTTPS://EXAMPLE.com", "https://example.com/"],
  ["https://example.com:8443/a?b=c&d=%20", "https://example.com:8443/a?b=c&d=%20"],
  ["https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"],
  ["https://[2001:db8::1]/hook", "https://[2001:db8::1]/hook"],
  [longest, longest]
]

const refused: ReadonlyArray<readonly [typed: string, expected: RegExp]> = [
  ["", /absolute http or https URL/],
  ["/inbound", /absolute http or https URL/],
  ["example.com/inbound", /absolute http or https URL/],
  ["//example.com/inbound", /absolute http or https URL/],
  ["ftp://example.com/", /absolute http or https URL/],
  ["file:///etc/passwd", /absolute http or https URL/],
  ["javascript:alert(1)", /absolute http or https URL/],
  ["data:text/plain,hi", /absolute http or https URL/],
  ["mailto:a@example.com", /absolute http or https URL/],
  ["https://", /absolute http or https URL/],
  ["https://exa mple.com/", /without spaces and control characters/],
  ["https://example.com/\u0000", /without spaces and control characters/],
  ["https://example.com/a\nb", /without spaces and control characters/],
  ["\thttps://example.com/", /without spaces and control characters/],
  ["https://example.com:99999/", /absolute http or https URL/],
  ["https://user:password@example.com/", /without user name and password/],
  ["https://user@example.com/", /without user name and password/],
  ["https://:password@example.com/", /without user name and password/],
  ["https://example.com/#part", /without a fragment/],
  ["https://example.com/#", /without a fragment/],
  [`${longest}a`, /at most 2048 characters/],
  [`https://example.com/${"ü".repeat(1_000)}`, /at most 2048 characters, also when percent-encoded/]
]

describe("WebhookUrl", () => {
  for (const [typed, normal] of accepted) {
    it.effect(`accepts ${typed.slice(0, 60)}, in production too`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* WebhookUrl.parse(typed, development), normal)
        assert.strictEqual(yield* WebhookUrl.parse(typed, inProduction), normal)
      })
    )
  }

  for (const [typed, expected] of refused) {
    it.effect(`rejects ${JSON.stringify(typed.slice(0, 60))} with a reason`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(WebhookUrl.parse(typed, development))
        assert.strictEqual(error._tag, "Invalid")
        assert.match(error.message, /^webhookUrl: Expected /)
        assert.match(error.message, expected)
      })
    )
  }

  it.effect("accepts http in development", () =>
    Effect.gen(function* () {
      const url = yield* WebhookUrl.parse("http://localhost:4000/hook", development)
      assert.strictEqual(url, "http://localhost:4000/hook")
    })
  )

  it.effect("accepts only https in production", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(WebhookUrl.parse("http://example.com/hook", inProduction))
      assert.strictEqual(error._tag, "Invalid")
      assert.match(error.message, /^webhookUrl: Expected an https URL/)
    })
  )
})
