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
    "x-service-timestamp": `${seconds}`,
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
    [
      "a time of many digits",
      body,
      {
        ...headers(now),
        "x-service-timestamp": `${"9".repeat(400)}${now}`,
        "x-service-signature": signature(now).replace("t=", `t=${"9".repeat(400)}`)
      },
      false
    ],
    ["no event", body, { "x-service-timestamp": `${now}`, "x-service-signature": signature(now) }, false],
    ["no timestamp", body, { "x-service-event-id": "one", "x-service-signature": signature(now) }, false],
    ["another timestamp", body, { ...headers(now), "x-service-timestamp": `${now + 1}` }, false],
    ["another body", `${body} `, headers(now), false],
    ["another event", body, headers(now, "two"), false],
    ["no headers", body, {}, false]
  ] as const
})

/** Makes a program of the code that prints the answer to each case, given as JSON. */
interface Caller {
  readonly file: string
  readonly command: ReadonlyArray<string>
  of(code: string): string
}

const append = (call: string) => (code: string) => `${code}\n\n${call}\n`

const callers: Readonly<Record<string, Caller>> = {
  "Node.js": {
    file: "verify.mjs",
    command: [process.execPath],
    of: append(
      "console.log(JSON.stringify(JSON.parse(process.argv[2]).map(([, body, headers]) => verify(body, headers))))"
    )
  },
  Python: {
    file: "verify.py",
    command: ["python3"],
    of: append(
      "import sys\nprint(json.dumps([verify(body.encode(), headers) for _, body, headers, _ in json.loads(sys.argv[1])]))"
    )
  },
  Ruby: {
    file: "verify.rb",
    command: ["ruby"],
    of: append("puts JSON.generate(JSON.parse(ARGV[0]).map { |_, body, headers, _| verify(body, headers) })")
  },
  Go: {
    file: "verify.go",
    command: ["go", "run"],
    of: (code) =>
      `${code.replace("package inlet", "package main").replace("import (", 'import (\n\t"fmt"')}
func main() {
	var cases [][]any
	json.Unmarshal([]byte(os.Args[1]), &cases)
	answers := []bool{}
	for _, one := range cases {
		headers := http.Header{}
		for name, value := range one[2].(map[string]any) {
			headers.Set(name, value.(string))
		}
		answers = append(answers, Verify([]byte(one[1].(string)), headers))
	}
	text, _ := json.Marshal(answers)
	fmt.Println(string(text))
}
`
  },
  PHP: {
    file: "verify.php",
    command: ["php"],
    of: append("echo json_encode(array_map(fn ($one) => verify($one[1], $one[2]), json_decode($argv[1], true)));")
  }
}

const answers = Effect.fnUntraced(function* (name: string) {
  const { command, file, of } = callers[name] ?? (yield* Effect.die(name))
  const shown = languages.find((language) => language.name === name)?.code ?? ""
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  yield* fs.writeFileString(`${folder}/${file}`, of(shown))
  const [first = "", ...args] = command
  const given = yield* cases
  const run = (INLET_WEBHOOK_SECRET: string | undefined) =>
    Program.run(first, [...args, `${folder}/${file}`, JSON.stringify(given)], {
      env: { INLET_WEBHOOK_SECRET, GOFLAGS: "-mod=mod", GO111MODULE: "off", GOCACHE: `${folder}/go` }
    })
  const told = yield* run(secret)
  assert.strictEqual(told.code, 0, told.stderr)
  assert.deepStrictEqual(
    JSON.parse(told.stdout),
    given.map(([, , , expected]) => expected)
  )
  // Anybody could sign with an empty secret.
  for (const none of [undefined, ""]) {
    const refused = yield* run(none)
    assert.notStrictEqual(refused.code, 0)
    assert.include(`${refused.stderr}${refused.stdout}`, "Set INLET_WEBHOOK_SECRET to the signing secret")
  }
})

describe("The code of the console that verifies requests", () => {
  for (const [language, need] of [
    ["Node.js", undefined],
    ["Python", Needs.python],
    ["Ruby", Needs.ruby],
    ["Go", Needs.go],
    ["PHP", Needs.php]
  ] as const) {
    it.live(
      `accepts genuine ones alone in ${language}, and none without a secret`,
      () => answers(language).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
      need === undefined ? {} : Needs.options(need)
    )
  }
})
