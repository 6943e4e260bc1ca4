import { assert, describe, it } from "@effect/vitest"
import * as UrlPath from "../../../src/content/codes/UrlPath.ts"

describe("The path of a URL", () => {
  it.each([
    ["https://id.acme.example/realms/acme/login-actions/action-token?key=reset", "action-token"],
    ["https://acme.example/verify-email/9fK2mQ7xT4vB8nL1cR6z", "verify-email"],
    ["https://acme.example/password/reset/key/2-9fK2mQ", "reset"],
    ["https://acme.example/#/reset-password/9fK2mQ7xT4vB8nL1cR6z?a=login", "reset-password"],
    ["https://acme.example/wp-login.php?action=rp", "wp-login.php"],
    ["https://acme.example/invite/x7k2p9qm4t", "invite"],
    ["https://acme.example/index.php?act=verify", ""],
    ["https://acme.example", ""],
    ["mailto:ada@acme.example", ""]
  ])("of %s ends with the name %j", (url, last) => {
    assert.strictEqual(UrlPath.of(url).last, last)
  })
})
