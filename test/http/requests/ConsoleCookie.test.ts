import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import * as ConsoleCookie from "../../../src/http/requests/ConsoleCookie.ts"

describe("The cookie of the console", () => {
  it.each([
    ["https://inlet.example.com", true],
    ["HTTPS://inlet.example.com", true],
    ["http://localhost:3000", false]
  ])("is sent over https alone if the public URL is so: %s", (url, isSecure) => {
    const { cookies } = ConsoleCookie.set("inlet_console", Redacted.make("secret"), url)(HttpServerResponse.empty())
    assert.strictEqual(cookies.cookies.inlet_console?.options?.secure, isSecure)
  })
})
