import { createHmac } from "node:crypto"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, FileSystem } from "effect"
import { languages } from "../../src/console/webhook/Languages.ts"
import * as Needs from "../Needs.ts"
import * as Program from "../Program.ts"

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

/** Calls of `verify` with their expected answers. */
const cases = Effect.gen(function* () {
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  const body = '{"event_id":"one","subject":"Grüße, \\"event_id\\":\\"two\\""}'
  const signature = (seconds: number, key = secret) =>
    `t=${seconds},v1=${createHmac("sha256", key).update(`${seconds}.${body}`).digest("hex")}`
  const headers = (seconds: number, id = "one") => ({
    "x-service-event-id": id,
    "x-service-signature": signature(seconds)
  })
  return [
    ["a genuine request", body, headers(now - 290), true],
    ["an old one", body, headers(now - 310), false],
    ["one from the future", body, headers(now + 310), false],
    [
      "one after a rotation",
      body,
      {
        ...headers(now),
        "x-service-signature": signature(now, "whsec_new"),
        "x-service-signature-previous": signature(now)
      },
      true
    ],
    [
      "one of other secrets",
      body,
      {
        ...headers(now),
        "x-service-signature": signature(now, "whsec_new"),
        "x-service-signature-previous": signature(now, "whsec_newer")
      },
      false
    ],
    ["another body", `${body} `, headers(now), false],
    ["another event", body, headers(now, "two"), false],
    ["no headers", body, {}, false]
  ] as const
})

const callers = {
  "Node.js": {
    file: "verify.mjs",
    command: process.execPath,
    code: "console.log(JSON.stringify(JSON.parse(process.argv[2]).map(([, body, headers]) => verify(body, headers))))"
  },
  Python: {
    file: "verify.py",
    command: "python3",
    code: "import sys\nprint(json.dumps([verify(body.encode(), headers) for _, body, headers, _ in json.loads(sys.argv[1])]))"
  }
} as const

const answers = Effect.fnUntraced(function* (name: keyof typeof callers) {
  const { code, command, file } = callers[name]
  const shown = languages.find((language) => language.name === name)?.code ?? ""
  const fs = yield* FileSystem.FileSystem
  const path = `${yield* fs.makeTempDirectoryScoped()}/${file}`
  yield* fs.writeFileString(path, `${shown}\n\n${code}\n`)
  const given = yield* cases
  const program = yield* Program.start(command, [path, JSON.stringify(given)], {
    env: { INLET_WEBHOOK_SECRET: secret }
  })
  assert.strictEqual(yield* program.exitCode, 0, yield* program.printed)
  assert.deepStrictEqual(
    JSON.parse(yield* program.stdout),
    given.map(([, , , expected]) => expected)
  )
})

describe("The code of the console that verifies requests", () => {
  it.live("accepts genuine ones alone in Node.js", () =>
    answers("Node.js").pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live(
    "accepts genuine ones alone in Python",
    () => answers("Python").pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    Needs.options(Needs.python)
  )
})
