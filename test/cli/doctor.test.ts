import { createServer } from "node:net"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Effect, FileSystem, Layer } from "effect"
import * as ServiceDoctor from "../../src/cli/commands/ServiceDoctor.ts"
import { MailPort } from "../../src/health/MailHost.ts"
import * as Platform from "../../src/process/Platform.ts"
import * as Resolver from "../../src/providers/dns/Resolver.ts"
import { selfSigned } from "../../src/smtp/SelfSigned.ts"
import { DnsServer } from "../DnsServer.ts"
import { FakeRspamd } from "../FakeRspamd.ts"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"

const folder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "inlet-doctor-" }))

/** Production settings with an unreachable database. */
const production = {
  NODE_ENV: "production",
  DATABASE_URL: "postgres://inlet:secret@127.0.0.1:1/inlet",
  SECRETS_KEY: Buffer.alloc(32).toString("base64"),
  SERVICE_PUBLIC_URL: "https://inlet.example.com",
  PLATFORM_DOMAIN: "example.com"
}

/** The findings under these settings, with a mail server at `port`. */
const found = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>, port: number) {
  const world = Resolver.layer.pipe(
    Layer.provideMerge(Platform.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
  )
  const findings = yield* ServiceDoctor.findings.pipe(
    Effect.provide(world),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.provideService(MailPort, port)
  )
  return findings.map(({ about, says, verdict }) => `${verdict} ${about}: ${says}`)
})

/** A server that sends this to each connection. */
const server = (words: string) =>
  Effect.gen(function* () {
    const port = yield* Ports.free
    yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const listening = createServer((socket) => socket.resume().end(words))
        listening.listen(port, "127.0.0.1", () => resume(Effect.succeed(listening)))
      }),
      (listening) => Effect.callback<void>((resume) => void listening.close(() => resume(Effect.void)))
    )
    return port
  })

describe("inlet doctor", () => {
  it.live("reads the settings in the file of --env-file, as inlet start does", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* folder}/.env`
      yield* fs.writeFileString(file, "HTTP_PORT=abc\nSMTP_PROT=25\n")
      const wrong = yield* Program.inletRun(["doctor", "--env-file", file])
      assert.deepStrictEqual([wrong.code, wrong.stdout], [1, ""])
      assert.strictEqual(wrong.stderr, "HTTP_PORT: Expected a port number from 0 to 65535\n")
      const env = { HTTP_PORT: `${yield* Ports.free}`, SMTP_PORT: `${yield* Ports.free}`, DATA_DIR: yield* folder }
      const service = yield* Program.inlet(["start", "--env-file", file], env)
      yield* service.says("SMTP_PROT is not a setting and is ignored. Did you mean SMTP_PORT?")
      yield* service.says("See mail arrive")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("names a DATA_DIR that it may not read, and checks the rest", () =>
    Effect.gen(function* () {
      const { DATABASE_URL: _url, NODE_ENV: _mode, ...settings } = production
      const findings = yield* found({ ...settings, DATA_DIR: "package.json", DNS_SERVERS: "127.0.0.1:1" }, 1)
      const [database] = findings.filter((finding) => finding.includes(" database:"))
      assert.match(database ?? "", /^wrong database: DATA_DIR: This user may not read package\.json \(ENOTDIR/)
      assert.isAbove(findings.length, 2)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("says that the name servers are silent, and nothing of the records then", () =>
    Effect.gen(function* () {
      const findings = yield* found({ ...production, DATA_DIR: yield* folder, DNS_SERVERS: "127.0.0.1:1" }, 1)
      const ofDns = findings.filter((finding) => / (?:DNS|MX|TXT):/.test(finding))
      assert.lengthOf(ofDns, 1)
      assert.match(ofDns[0] ?? "", /^wrong DNS: The name servers do not answer \(\w+\), .* Correct DNS_SERVERS/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("passes a platform with correct DNS, port and certificate", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      const fs = yield* FileSystem.FileSystem
      const DATA_DIR = yield* folder
      yield* dns.answer("A", "mx.example.com", { address: "127.0.0.1" })
      yield* dns.answer("MX", "doctor.inbox.example.com", { mx: [[10, "mx.example.com"]] })
      yield* dns.answer("TXT", "doctor.inbox.example.com", { text: ["v=spf1 -all"] })
      const { cert, key } = selfSigned("mx.example.com", yield* Clock.currentTimeMillis)
      yield* fs.writeFileString(`${DATA_DIR}/cert.pem`, cert)
      yield* fs.writeFileString(`${DATA_DIR}/key.pem`, key)
      const env = {
        ...production,
        DATA_DIR,
        DNS_SERVERS: dns.server,
        SMTP_TLS_CERT: `${DATA_DIR}/cert.pem`,
        SMTP_TLS_KEY: `${DATA_DIR}/key.pem`
      }
      const port = yield* server("220 mx.example.com ESMTP\r\n")
      const lines = yield* found(env, port)
      assert.deepStrictEqual(lines.slice(0, 4), [
        "good DNS: mx.example.com is 127.0.0.1",
        "good MX: doctor.inbox.example.com goes to mx.example.com",
        "good TXT: doctor.inbox.example.com says that it sends no mail",
        `good port ${port}: mx.example.com (127.0.0.1) answers from this machine. From another network: nc -v mx.example.com ${port}`
      ])
      assert.match(lines[4] ?? "", /^good certificate: 1 days old, good until \d{4}-\d\d-\d\d$/)
      assert.strictEqual(lines[5], `good raw store: ${DATA_DIR}/raw can be written`)
      assert.match(
        lines[6] ?? "",
        /^wrong database: The database at 127\.0\.0\.1:1 does not answer \(.*ECONNREFUSED.*\)\. Start it, or correct the setting$/
      )
    }).pipe(Effect.scoped, Effect.provide([DnsServer.layer, NodeServices.layer]))
  )

  it.live("names the records to publish, a closed port and a wrong certificate", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      const DATA_DIR = yield* folder
      yield* dns.answer("MX", "doctor.inbox.example.com", { mx: [[10, "mail.elsewhere.example"]] })
      const env = { ...production, DATA_DIR, DNS_SERVERS: dns.server, RAW_DIR: "/proc/inlet" }
      const lines = yield* found(env, yield* Ports.free)
      assert.match(lines[0] ?? "", /^wrong DNS: mx\.example\.com \(MX_HOST\) has no address: .*Publish an A record$/)
      assert.strictEqual(
        lines[1],
        "wrong MX: *.inbox.example.com goes to mail.elsewhere.example. Publish: *.inbox.example.com MX 10 mx.example.com"
      )
      assert.match(lines[2] ?? "", /^note TXT: .*Publish: \*\.inbox\.example\.com TXT "v=spf1 -all"$/)
      assert.match(lines[3] ?? "", /^note port \d+: not looked at: MX_HOST has no address$/)
      assert.match(lines[4] ?? "", /^note certificate: self-signed/)
      assert.match(lines[5] ?? "", /^wrong raw store: RAW_DIR: ENOENT/)

      yield* dns.answer("A", "mx.example.com", { address: "127.0.0.1" })
      const [, , , closed = ""] = yield* found(env, yield* Ports.free)
      assert.match(closed, /^wrong port \d+: mx\.example\.com \(127\.0\.0\.1\) does not answer: .*ECONNREFUSED/)
      const [, , , foreign = ""] = yield* found(env, yield* server("SSH-2.0-x\r\n"))
      assert.include(foreign, 'is no mail server: it says "SSH-2.0-x"')
    }).pipe(Effect.scoped, Effect.provide([DnsServer.layer, NodeServices.layer]))
  )

  it.live("only notes a mail host that this machine does not reach", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      // An address of documentation, to which no network has a route.
      yield* dns.answer("AAAA", "mx.example.com", { address: "2001:db8::1" })
      const lines = yield* found({ ...production, DATA_DIR: yield* folder, DNS_SERVERS: dns.server }, 25)
      const line = lines.find((finding) => finding.includes(" port 25: ")) ?? ""
      assert.match(
        line,
        /^note port 25: This machine cannot reach mx\.example\.com \(2001:db8::1\): .* Many clouds block outgoing connections to port 25/
      )
    }).pipe(Effect.scoped, Effect.provide([DnsServer.layer, NodeServices.layer]))
  )

  it.live("fails an expired certificate or one for another host, and notes one that expires soon", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const DATA_DIR = yield* folder
      const env = { DATA_DIR, SMTP_TLS_CERT: `${DATA_DIR}/cert.pem`, SMTP_TLS_KEY: `${DATA_DIR}/key.pem` }
      const verdictOn = Effect.fnUntraced(function* (host: string, daysAgo: number) {
        const { cert, key } = selfSigned(host, (yield* Clock.currentTimeMillis) - daysAgo * 86_400_000)
        yield* fs.writeFileString(env.SMTP_TLS_CERT, cert)
        yield* fs.writeFileString(env.SMTP_TLS_KEY, key)
        const lines = yield* found(env, 1)
        return lines.find((line) => line.includes("certificate")) ?? ""
      })
      assert.match(yield* verdictOn("mx.inlet.test", 360), /^note certificate: .*it ends in [45] days/)
      assert.match(yield* verdictOn("mx.inlet.test", 400), /^wrong certificate: .*it ended on/)
      assert.match(yield* verdictOn("mx.other.test", 1), /^wrong certificate: .*not for mx\.inlet\.test \(MX_HOST\)/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("has the scanner scan a mail, and says what to correct if it does not", () =>
    Effect.gen(function* () {
      const rspamd = yield* FakeRspamd
      const settings = { DATA_DIR: yield* folder, MAIL_SCANNER: "rspamd" }
      const scanner = (RSPAMD_URL: string, MAIL_SCANNER_TIMEOUT = "30s") =>
        Effect.map(found({ ...settings, RSPAMD_URL, MAIL_SCANNER_TIMEOUT }, 1), (lines) =>
          lines.filter((line) => line.includes("scanner:"))
        )
      const place = `rspamd at ${new URL(rspamd.url).host}`
      const advice =
        "Mail goes on with the verdict unknown. Start the scanner, or correct RSPAMD_URL and RSPAMD_PASSWORD"

      yield* rspamd.reacts((_, response) => void response.end('{"action":"no action","score":1.5,"symbols":{}}'))
      assert.deepStrictEqual(yield* scanner(rspamd.url), [
        `good scanner: ${place} finds a harmless mail clean, with a score of 1.5`
      ])
      assert.include(`${rspamd.last()?.body}`, "To: <doctor@inlet.test>\r\n")

      yield* rspamd.reacts((_, response) => void response.writeHead(403).end())
      assert.deepStrictEqual(yield* scanner(rspamd.url), [
        `wrong scanner: ${place} does not scan: it answered 403. ${advice}`
      ])
      yield* rspamd.reacts(() => {})
      assert.deepStrictEqual(yield* scanner(rspamd.url, "1s"), [
        `wrong scanner: ${place} does not scan: no answer within MAIL_SCANNER_TIMEOUT. ${advice}`
      ])
      const nobody = `127.0.0.1:${yield* Ports.free}`
      assert.deepStrictEqual(yield* scanner(`http://${nobody}`), [
        `wrong scanner: rspamd at ${nobody} does not scan: no answer (ECONNREFUSED). ${advice}`
      ])
    }).pipe(Effect.scoped, Effect.provide([FakeRspamd.layer, NodeServices.layer]))
  )

  it.live("exits with 0 if all checks pass, and else with 1 and the failed checks", () =>
    Effect.gen(function* () {
      const DATA_DIR = yield* folder
      const env = { DATA_DIR, DATABASE_URL: undefined }
      const doctor = (more: Readonly<Record<string, string>> = {}) => Program.inletRun(["doctor"], { ...env, ...more })
      const well = yield* doctor()
      assert.strictEqual(well.stderr, "")
      assert.strictEqual(well.code, 0)
      assert.match(well.stdout, /^· DNS {10}not looked at: NODE_ENV is development$/m)
      assert.match(well.stdout, /^✓ raw store {4}.*\/raw can be written$/m)
      const ill = yield* doctor({ DATABASE_URL: "postgres://inlet:secret@127.0.0.1:1/inlet" })
      assert.strictEqual(ill.code, 1)
      assert.strictEqual(ill.stderr, "Wrong: database\n")
      assert.notInclude(ill.stdout, "secret")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
