import { assert, describe, it } from "@effect/vitest"
import { webhookUrls } from "../../src/http/api/LlmsText.ts"

const none = { production: true, allowPrivate: false, allow: [], deny: [] }

describe("The line of /llms.txt about webhook URLs", () => {
  it.each([
    [none, "https, on public addresses"],
    [{ ...none, production: false, allowPrivate: true }, "http or https, on public and private addresses"],
    [{ ...none, allowPrivate: true }, "https, on public and private addresses"],
    [{ ...none, allow: ["10.0.0.0/8"] }, "https, on public addresses and on others that the operator allows"],
    [{ ...none, deny: ["8.8.8.8/32"] }, "https, on public addresses, except those that the operator denies"]
  ])("follows the settings of the egress: %j", (settings, said) => {
    assert.strictEqual(webhookUrls(settings), `Webhook URLs are ${said}`)
  })
})
