import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createTransport } from "nodemailer"
import * as CommandLine from "../CommandLine.ts"
import * as Mail from "../Mail.ts"
import { age } from "../MailAge.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Needs from "../Needs.ts"
import * as OpenWaits from "../OpenWaits.ts"
import * as PassOn from "../PassOn.ts"
import * as Program from "../Program.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** The user's state folder. */
const stateOf = (folder: string) => `${folder}/state`

const shell = Effect.fnUntraced(function* (key: string, script: string) {
  const { folder, smtpPort, url } = yield* TestInlet
  const inlet = `${process.execPath} ${yield* Program.script}`
  return yield* Program.run("bash", ["-c", `inlet() { ${inlet} "$@"; }\n${script}`], {
    env: { INLET_URL: url, INLET_API_KEY: key, SMTP_PORT: `${smtpPort}`, XDG_STATE_HOME: stateOf(folder) }
  })
})

/** Runs `inlet wait …` with a workspace key. */
const wait = Effect.fnUntraced(function* (key: string, ...args: ReadonlyArray<string>) {
  const { folder, url } = yield* TestInlet
  const env = { INLET_URL: url, INLET_API_KEY: key, XDG_STATE_HOME: stateOf(folder) }
  return yield* CommandLine.run(["wait", ...args], env)
})

const codeMail = (code: string) => ({
  subject: "Your sign-in code",
  text: `Your verification code is ${code}. It expires in 10 minutes.\n`
})

layer(Layer.mergeAll(TestInlet.layer(), NodeServices.layer), { excludeTestServices: true })("A wrong flag", (it) => {
  it.effect("prints nothing to standard output, which scripts capture, and names the help", () =>
    Effect.gen(function* () {
      const { key } = yield* (yield* TestInlet).workspace
      const { code, stderr, stdout } = yield* wait(key, "--timeout", "5")
      assert.strictEqual(code, 1)
      assert.strictEqual(stdout, "")
      assert.match(stderr, /^Invalid value for flag --timeout: "5"\. .*\nRun: inlet wait --help\n$/)
    })
  )
})

/** An app with a sign-up that sends a code and a link. */
const signUp = Effect.fnUntraced(function* (address: string, code: string) {
  const { smtpPort } = yield* TestInlet
  const transport = createTransport({ host: "127.0.0.1", port: smtpPort, tls: { rejectUnauthorized: false } })
  yield* Effect.promise(() =>
    transport.sendMail({
      from: "Acme <no-reply@acme.example>",
      to: address,
      subject: "Confirm your address",
      text: `Welcome to Acme!\n\nYour verification code is ${code}\n\nOr open https://app.acme.example/verify?token=Zm9vYmFyYmF6cXV4${code}\n`,
      html: `<p>Welcome to Acme!</p><p>Your verification code is</p><p><b>${code}</b></p><p><a href="https://app.acme.example/verify?token=Zm9vYmFyYmF6cXV4${code}">Verify address</a></p>`
    })
  )
  transport.close()
})

layer(Layer.mergeAll(TestInlet.layer(), NodeServices.layer), { excludeTestServices: true })("inlet wait", (it) => {
  it.effect(
    "prints the code of the mail sent after the mark, not of an earlier one",
    () =>
      Effect.gen(function* () {
        yield* Needs.demand(Needs.swaks, Needs.terminal)
        const inlet = yield* TestInlet
        const { address, key } = yield* inlet.inbox()
        yield* Mail.send(inlet.smtpPort, { to: address, ...codeMail("111111") })
        const { code, stderr, stdout } = yield* shell(
          key,
          `set -e
            inlet wait --code --to ${address} --newer-than 5m
            mark=$(inlet wait --mark --to ${address})
            swaks --silent --server 127.0.0.1:${inlet.smtpPort} --from acme@sender.example --to ${address} \\
              --header 'Subject: Your sign-in code' --body 'Your verification code is 482913. It expires soon.'
            inlet wait --code --to ${address} --after "$mark"`
        )
        assert.strictEqual(stdout, "111111\n482913\n")
        assert.strictEqual(stderr, "")
        assert.strictEqual(code, 0)
      }),
    Needs.options(Needs.swaks, Needs.terminal)
  )

  it.effect("prints the code, the link or the mail as JSON of a sign-up", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domain, key } = yield* inlet.inbox()
      const address = `signup+acme@${domain}`
      const mark = (yield* wait(key, "--mark")).stdout.trim()
      yield* signUp(address, "739204")

      const after = ["--to", address, "--after", mark]
      const code = yield* wait(key, ...after, "--code")
      assert.strictEqual(code.stdout, "739204\n")
      assert.strictEqual(code.code, 0)

      const url = "https://app.acme.example/verify?token=Zm9vYmFyYmF6cXV4739204"
      const link = yield* wait(key, ...after, "--link", "verify")
      assert.strictEqual(link.stdout, `${url}\n`)
      const same = yield* wait(
        key,
        ...after,
        "--link=verify",
        "--subject",
        "CONFIRM",
        "--from",
        "no-reply@acme.example"
      )
      assert.strictEqual(same.stdout, `${url}\n`)

      const json = yield* wait(key, ...after, "--code", "--json")
      const printed = JSON.parse(json.stdout)
      assert.strictEqual(printed.value, "739204")
      assert.strictEqual(printed.event.recipient, address)
      assert.strictEqual(printed.event.fromName, "Acme")
      assert.strictEqual(printed.event.tag, "acme")

      const mail = yield* wait(key, ...after)
      assert.strictEqual(mail.stdout, `${printed.event.event_id}\n`)
    })
  )

  it.effect("prints a code of the last 60 s with its age, and none twice", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { address, key } = inbox
      yield* Mail.send(inlet.smtpPort, { to: address, ...codeMail("111111") })
      const [first] = yield* Mailbox.events(inbox)
      yield* age(first.event_id, 40)
      const code = yield* wait(key, "--code", "--json", "--timeout", "1s")
      const printed = JSON.parse(code.stdout)
      assert.strictEqual(printed.value, "111111")
      assert.isAtLeast(printed.age_seconds, 40)
      assert.match(code.stderr, /^This code came 4\d seconds before the command\n$/)
      const again = yield* wait(key, "--code", "--timeout", "0s")
      assert.deepStrictEqual([again.stdout, again.code], ["", 4])

      const running = yield* Effect.forkChild(wait(key, "--code", "--timeout", "60s"))
      yield* OpenWaits.are(1)
      yield* Mail.send(inlet.smtpPort, { to: address, ...codeMail("222222") })
      assert.strictEqual((yield* Fiber.join(running)).stdout, "222222\n")
      // An explicit start counts as it is, and the newest code comes first.
      const after = yield* wait(key, "--code", "--after", "start", "--timeout", "0s")
      assert.strictEqual(after.stdout, "222222\n")
    })
  )

  it.effect("prints nothing of mail that a sender rule holds, and says how to see it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* inlet.call("POST", `/api/domains/${inbox.domainId}/sender-rules`, {
        key: inbox.key,
        body: { list: "block", value: "evil@attacker.example" }
      })
      const mark = (yield* wait(inbox.key, "--mark")).stdout.trim()
      const held = { to: inbox.address, from: "evil@attacker.example", ...codeMail("777888") }
      yield* Mail.send(inlet.smtpPort, held)
      yield* Mailbox.events(inbox)
      for (const args of [["--code"], ["--code", "--after", mark], ["--after", mark]]) {
        const late = yield* wait(inbox.key, ...args, "--timeout", "0s")
        assert.deepStrictEqual([late.stdout, late.code], ["", 4])
        assert.match(
          late.stderr,
          /Mail came that a sender rule, the mail scanner or the loop guard holds\. `inlet events list --trust held` lists it\n$/
        )
      }
      const running = yield* Effect.forkChild(wait(inbox.key, "--code", "--timeout", "3s"))
      yield* OpenWaits.are(1)
      yield* Mail.send(inlet.smtpPort, held)
      const early = yield* Fiber.join(running)
      assert.deepStrictEqual([early.stdout, early.code], ["", 4])
      assert.match(early.stderr, /`inlet events list --trust held` lists it\n$/)
    })
  )

  it.effect("prints no code that came 91 s before its start", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, ...codeMail("111111") })
      const [event] = yield* Mailbox.events(inbox)
      yield* age(event.event_id, 91)
      const late = yield* wait(inbox.key, "--code", "--timeout", "0s")
      assert.deepStrictEqual([late.stdout, late.code], ["", 4])
      const explicit = yield* wait(inbox.key, "--code", "--newer-than", "5m")
      assert.strictEqual(explicit.stdout, "111111\n")
    })
  )

  it.effect("prints a code that it cannot remember, with a warning", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const fs = yield* FileSystem.FileSystem
      const inbox = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, ...codeMail("111111") })
      yield* Mailbox.events(inbox)
      const file = `${inlet.folder}/no-folder`
      yield* fs.writeFileString(file, "")
      const env = { INLET_URL: inlet.url, INLET_API_KEY: inbox.key, XDG_STATE_HOME: file }
      const code = yield* CommandLine.run(["wait", "--code"], env)
      assert.strictEqual(code.stdout, "111111\n")
      assert.match(code.stderr, /The next `inlet wait` may print this code again/)
    })
  )

  it.effect("ignores mail from before its start, and exits with 4 on timeout", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, key } = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: address, ...codeMail("222222") })
      yield* wait(key, "--code", "--newer-than", "5m")
      const late = yield* wait(key, "--code", "--timeout", "1s")
      assert.strictEqual(late.stdout, "")
      assert.strictEqual(late.stderr, "No mail with a code within 1s\n")
      assert.strictEqual(late.code, 4)

      // A From field cannot contain it.
      const forged = yield* wait(key, "--newer-than", "5m", "--from-domain", "sender.example", "--timeout", "1s")
      assert.strictEqual(forged.stderr, "No mail that matches within 1s\n")
      assert.strictEqual(forged.code, 4)
    })
  )

  it.effect("exits with 4 on timeout if a proxy cuts each wait, and waits less each time", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.inbox()
      const proxy = yield* WebhookReceiver.make
      const pass = PassOn.to(inlet.url)
      yield* proxy.answerAlways((asked, answer) => {
        if (asked.url?.includes("wait=") === true) answer.writeHead(504).end("<h1>Gateway Timeout</h1>")
        else pass(asked, answer)
      })
      const late = yield* wait(key, "--url", new URL(proxy.url).origin, "--timeout", "7s")
      assert.match(late.stderr, /^No mail within 7s\. The last request failed: [^\n]*504[^\n]*\n$/)
      assert.deepStrictEqual([late.stdout, late.code], ["", 4])
      const waits = (yield* proxy.all).flatMap(({ path }) => /wait=(\d+)/.exec(path)?.slice(1).map(Number) ?? [])
      assert.deepStrictEqual(
        waits,
        waits.toSorted((a, b) => b - a)
      )
      assert.isBelow(waits.at(-1) ?? 0, waits[0] ?? 0)
    }).pipe(Effect.scoped)
  )

  it.effect("exits with 4 on timeout if the service does not answer its first question", () =>
    Effect.gen(function* () {
      const service = yield* WebhookReceiver.make
      yield* service.answerAlways(() => {})
      const { key } = yield* (yield* TestInlet).workspace
      const running = yield* Effect.forkChild(wait(key, "--url", new URL(service.url).origin, "--timeout", "5m"))
      yield* service.next
      yield* TestClock.adjust("6 minutes")
      const late = yield* Fiber.join(running)
      assert.deepStrictEqual(
        [late.stdout, late.stderr, late.code],
        ["", "The service did not answer in time. Check it with GET /ready\n", 4]
      )
    }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
  )

  it.effect("skips mail that does not match", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, key } = yield* inlet.inbox()
      const mark = (yield* wait(key, "--mark")).stdout.trim()
      yield* signUp(address, "555666")
      const running = yield* Program.inlet(["wait", "--link=reset", "--after", mark, "--timeout", "90s"], {
        INLET_URL: inlet.url,
        INLET_API_KEY: key
      })
      // The command usually waits by now. The test is valid in both cases.
      yield* Effect.sleep("3 seconds")
      yield* Mail.send(inlet.smtpPort, {
        to: address,
        subject: "Reset your password",
        text: "Somebody asked to reset your password.\n\nhttps://app.acme.example/reset-password?token=c2VjcmV0c2VjcmV0\n"
      })
      assert.strictEqual(yield* running.exitCode, 0)
      assert.strictEqual(yield* running.stdout, "https://app.acme.example/reset-password?token=c2VjcmV0c2VjcmV0\n")
    }).pipe(Effect.scoped)
  )

  it.effect("reports an invalid flag in one line", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.inbox()
      const both = yield* wait(key, "--code", "--link")
      assert.strictEqual(both.stderr, "--code: Expected no --link beside it\n")
      assert.strictEqual(both.code, 1)
      const age = yield* wait(key, "--newer-than", "soon")
      assert.include(age.stderr, "--newer-than")
      const marked = yield* wait(key, "--mark", "--after", "start")
      assert.strictEqual(marked.stderr, "--mark: Expected neither --after nor --newer-than beside it\n")
      assert.include(age.stderr, "Expected a time such as 90s, 5m, 2h or 7d")
      assert.strictEqual(age.code, 1)
      const elsewhere = yield* wait(key, "--to", "inbox@elsewhere.example")
      assert.match(elsewhere.stderr, /^No domain elsewhere\.example in this workspace\. It has [^\n]+\n$/)
      assert.strictEqual(elsewhere.code, 1)
    })
  )
})
