import { existsSync } from "node:fs"
import { createServer } from "node:net"
import { NodeServices } from "@effect/platform-node"
import { assert, layer, vi } from "@effect/vitest"
import { ConfigProvider, Context, Effect, FileSystem, Layer } from "effect"
import * as ListenError from "../../src/process/ListenError.ts"
import * as Settings from "../../src/Settings.ts"
import * as Tls from "../../src/smtp/Tls.ts"
import { call } from "../ApiCall.ts"
import * as CommandLine from "../CommandLine.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"
import { S3Server } from "../simulators/S3Server.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** Free ports and a folder of its own, unless a test overrides them. */
const world = Effect.fnUntraced(function* (env: Program.Options["env"] = {}) {
  const fs = yield* FileSystem.FileSystem
  return {
    HTTP_PORT: `${yield* Ports.free}`,
    SMTP_PORT: `${yield* Ports.free}`,
    DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-start-" }),
    DATABASE_URL: undefined,
    ...env
  }
})

/** The same with a migrated database. */
const installation = Effect.fnUntraced(function* (env: Program.Options["env"] = {}) {
  const own = yield* world(env)
  return { ...own, ...(yield* TestDatabase.migratedFor(own.DATA_DIR)) }
})

/** Runs `inlet start`, which must refuse. Returns its lines and exit code. */
const refusal = Effect.fnUntraced(function* (env: Program.Options["env"]) {
  return yield* CommandLine.run(["start"], yield* world({ LOG_LEVEL: "error", ...env }))
}, Effect.scoped)

const refuses = (line: string) => ({ code: 1, stdout: "", stderr: `Inlet can't start: ${line}\n` })

const production = {
  NODE_ENV: "production",
  DATABASE_URL: "postgres://inlet@127.0.0.1:1/inlet",
  SECRETS_KEY: "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
  SERVICE_PUBLIC_URL: "https://inlet.example.com",
  PLATFORM_DOMAIN: "example.com"
}

/** The message for each invalid setting. */
const wrong: Readonly<Record<string, readonly [env: Record<string, string | undefined>, line: string]>> = {
  "a port that is not a number": [{ HTTP_PORT: "abc" }, "HTTP_PORT: Expected a port number from 0 to 65535"],
  "an unknown NODE_ENV": [{ NODE_ENV: "prod" }, "NODE_ENV: Expected development, test or production"],
  "an unknown role": [{ ROLES: "htp" }, "ROLES: Expected some of http, smtp and worker, separated by commas"],
  "a short key": [{ SECRETS_KEY: "c2hvcnQ=" }, "SECRETS_KEY: Expected 32 bytes in base64 (openssl rand -base64 32)"],
  "production without settings, all missing ones at once": [
    { NODE_ENV: "production" },
    [
      "SERVICE_PUBLIC_URL: Missing, and production needs it: URL of the API as users see it, such as https://inlet.example.com",
      "PLATFORM_DOMAIN: Missing, and production needs it: a domain of yours that instant inboxes are under",
      "DATABASE_URL: Missing, and production needs it: postgres://user:password@host:5432/database",
      "SECRETS_KEY: Missing, and production needs it: 32 bytes in base64 (openssl rand -base64 32), the same for ever"
    ].join("\nInlet can't start: ")
  ],
  "production without DATABASE_URL": [
    { ...production, DATABASE_URL: undefined },
    "DATABASE_URL: Missing, and production needs it: postgres://user:password@host:5432/database"
  ],
  "production with the database password of docker-compose.yml": [
    { ...production, DATABASE_URL: "postgres://inlet:inlet@127.0.0.1:1/inlet" },
    "DATABASE_URL: This is the trial password of docker-compose.yml. Set another POSTGRES_PASSWORD in production"
  ],
  "production with an ADMIN_TOKEN that can be guessed": [
    { ...production, ADMIN_TOKEN: "fifteen letters" },
    "ADMIN_TOKEN: Expected 16 or more characters in production, because it opens every workspace. openssl rand -hex 32 makes a good one"
  ],
  "a DATABASE_URL without a user, where USER names none": [
    { DATABASE_URL: "postgres://127.0.0.1:1/inlet", USER: undefined, USERNAME: undefined },
    "DATABASE_URL: Expected a user name in the URL, as in postgres://user:password@host:5432/database"
  ],
  "production without SECRETS_KEY": [
    { ...production, SECRETS_KEY: undefined },
    "SECRETS_KEY: Missing, and production needs it: 32 bytes in base64 (openssl rand -base64 32), the same for ever"
  ],
  "production without SERVICE_PUBLIC_URL": [
    { ...production, SERVICE_PUBLIC_URL: undefined },
    "SERVICE_PUBLIC_URL: Missing, and production needs it: URL of the API as users see it, such as https://inlet.example.com"
  ],
  "production without PLATFORM_DOMAIN": [
    { ...production, PLATFORM_DOMAIN: undefined },
    "PLATFORM_DOMAIN: Missing, and production needs it: a domain of yours that instant inboxes are under"
  ]
}

/** An unreachable database. */
const bucket = {
  RAW_STORE: "s3",
  S3_ENDPOINT: "http://127.0.0.1:9",
  S3_REGION: "here-1",
  S3_BUCKET: "mail",
  S3_ACCESS_KEY_ID: "GK0",
  S3_SECRET_ACCESS_KEY: "secret"
}

/** The same check by reading `Settings` only. */
const explained = {
  "SMTP_PORT=65536": "SMTP_PORT: Expected a port number from 0 to 65535",
  "ROLES=,": "ROLES: Expected a value before and after each comma",
  "DATABASE_URL=localhost:5432": "DATABASE_URL: Expected a URL such as postgres://user:password@host:5432/database",
  "DATABASE_URL=postgres://inlet:a,b@one:5432,two:5432/inlet":
    "DATABASE_URL: Expected one host. For several servers, put HAProxy in front, which leads to the primary (docs/how-to/survive-the-loss-of-a-machine.md)",
  "DATABASE_URL=postgres://inlet:p@ss/word@127.0.0.1/inlet":
    "DATABASE_URL: Expected a password with / and @ written as %2F and %40, or in DATABASE_PASSWORD as it is",
  "DATABASE_URL=postgres://inlet:s3cr%et@127.0.0.1/inlet":
    "DATABASE_URL: Expected % written as %25, or a password in DATABASE_PASSWORD as it is",
  "DATABASE_URL=postgres://inlet@127.0.0.1/inlet?sslmode=bogus":
    "DATABASE_URL: Expected sslmode to be one of disable, allow, prefer, require, verify-ca, verify-full",
  "SERVICE_PUBLIC_URL=inlet.example.com":
    "SERVICE_PUBLIC_URL: Expected an http or https URL such as https://host.example",
  "SERVICE_PUBLIC_URL=https://inlet.example.com/?from=here":
    "SERVICE_PUBLIC_URL: Expected a URL without ? and #, because paths are added to it",
  "SERVICE_PUBLIC_URL=https://inlet:secret@inlet.example.com":
    "SERVICE_PUBLIC_URL: Expected a URL without user and password. Errors and the status of the service may show it",
  "S3_ENDPOINT=https://GK0:secret@s3.example.com":
    "S3_ENDPOINT: Expected a URL without user and password. Set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY",
  "S3_ENDPOINT=https://s3.example.com?token=secret":
    "S3_ENDPOINT: Expected a URL without ? and #, because paths are added to it",
  "S3_ENDPOINT=https://s3.example.com/#mail":
    "S3_ENDPOINT: Expected a URL without ? and #, because paths are added to it",
  "RSPAMD_URL=http://:secret@127.0.0.1:11333":
    "RSPAMD_URL: Expected a URL without user and password. Set RSPAMD_PASSWORD",
  "PLATFORM_DOMAIN=bücher.example":
    "PLATFORM_DOMAIN: Expected a name such as example.com, without a dot at its end and in its xn-- form",
  "PLATFORM_DOMAIN=co.uk": "PLATFORM_DOMAIN: Expected a domain of yours, and this is a public suffix",
  "PLATFORM_DOMAIN=example.com.":
    "PLATFORM_DOMAIN: Expected a name such as example.com, without a dot at its end and in its xn-- form",
  "MX_HOST=mx_1.example.com":
    "MX_HOST: Expected a name such as example.com, without a dot at its end and in its xn-- form",
  "DNS_SERVERS=dns.example": "DNS_SERVERS: Expected an address such as 9.9.9.9 or 127.0.0.1:5353",
  "DNS_SERVERS=9.9.9.9,999.1.1.1": "DNS_SERVERS: Expected an address such as 9.9.9.9 or 127.0.0.1:5353",
  "WEBHOOK_TIMEOUT=15": "WEBHOOK_TIMEOUT: Expected a time such as 500ms, 15s, 5m, 2h or 1d",
  "WEBHOOK_RETRY_DELAYS=5s,soon": "WEBHOOK_RETRY_DELAYS: Expected a time such as 500ms, 15s, 5m, 2h or 1d",
  "WEBHOOK_RETRY_DELAYS=5s,,1m": "WEBHOOK_RETRY_DELAYS: Expected a value before and after each comma",
  "WEBHOOK_DENY=10.0.0.0/8,": "WEBHOOK_DENY: Expected a value before and after each comma",
  "WEBHOOK_TIMEOUT=0s": "WEBHOOK_TIMEOUT: Expected a time from 1ms to 1h",
  "WEBHOOK_RETRY_DELAYS=99999999d": "WEBHOOK_RETRY_DELAYS: Expected a time from 0ms to 365d",
  "SMTP_GREETING_DELAY=30d": "SMTP_GREETING_DELAY: Expected a time from 0ms to 1m",
  "RETENTION_DAYS=3000000": "RETENTION_DAYS: Expected a whole number of days up to 36500, or 0 to keep everything",
  "REPLAYS_PER_DAY=3000000000": "REPLAYS_PER_DAY: Expected a whole number up to 2147483647, or 0 to turn the limit off",
  "DELIVERY_CONCURRENCY=0": "DELIVERY_CONCURRENCY: Expected a whole number above 0",
  "MAX_MESSAGE_BYTES=1.5": "MAX_MESSAGE_BYTES: Expected a whole number of bytes from 1 to 1073741824 (1 GiB)",
  "MAX_EMAILS_PER_DAY=-1": "MAX_EMAILS_PER_DAY: Expected a whole number up to 2147483647, or 0 to turn the limit off",
  "LOG_FORMAT=xml": 'LOG_FORMAT: Expected "pretty" | "json"',
  "LOG_LEVEL=loud": 'LOG_LEVEL: Expected "trace" | "debug" | "info" | "warn" | "error"',
  "OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318":
    "OTEL_EXPORTER_OTLP_ENDPOINT: Expected an http or https URL such as https://host.example"
}

/** What is wrong with the settings of an environment. */
const explain = (env: Readonly<Record<string, string>>) =>
  Settings.all.pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
    Effect.flip,
    Effect.map(Settings.explain)
  )

/** A folder with an embedded database, for quick starts. */
class Folder extends Context.Service<Folder, { readonly path: string }>()("inlet/test/Folder") {
  static readonly layer = Layer.effect(
    Folder,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      return { path: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-start-" }) }
    })
  ).pipe(Layer.provide(NodeServices.layer))
}

/** Another process on a loopback port. */
const taken = Effect.gen(function* () {
  const port = yield* Ports.free
  const server = createServer()
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
  )
  return `${port}`
})

layer(Layer.merge(Folder.layer, NodeServices.layer), { excludeTestServices: true })(
  "npm start refuses in one line",
  (it) => {
    for (const [name, [env, line]] of Object.entries(wrong)) {
      it.effect(name, () =>
        Effect.gen(function* () {
          // The driver reads these of the process.
          for (const variable of ["USER", "USERNAME"]) if (variable in env) vi.stubEnv(variable, env[variable])
          yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
          assert.deepStrictEqual(yield* refusal(env), refuses(line))
        }).pipe(Effect.scoped)
      )
    }

    it.effect("in a process of its own, with exit code 1", () =>
      Effect.gen(function* () {
        const [env, line] = wrong["production without settings, all missing ones at once"] ?? assert.fail()
        const given = yield* world({ LOG_LEVEL: "error", ...env })
        const { code, stderr, stdout } = yield* Program.run(process.execPath, [yield* InletProcess.script], {
          env: given
        })
        assert.deepStrictEqual({ code, stdout, stderr }, refuses(line))
      }).pipe(Effect.scoped)
    )

    it.effect("each invalid setting, with its name and the expected value", () =>
      Effect.gen(function* () {
        for (const [setting, line] of Object.entries(explained)) {
          const [name = "", ...parts] = setting.split("=")
          const value = parts.join("=")
          assert.strictEqual(yield* explain({ [name]: value }), line)
        }
      })
    )

    it.effect("all invalid settings at once, each named once", () =>
      Effect.gen(function* () {
        const wrong = { HTTP_PORT: "abc", SMTP_PORT: "70000", SECRETS_KEY: "c2hvcnQ=", STRIPE_SECRET_KEY: "sk_test_1" }
        assert.deepStrictEqual((yield* explain(wrong)).split("\n"), [
          "HTTP_PORT: Expected a port number from 0 to 65535",
          "SMTP_PORT: Expected a port number from 0 to 65535",
          "SECRETS_KEY: Expected 32 bytes in base64 (openssl rand -base64 32)"
        ])
      })
    )

    it.effect("a certificate without a key, and a missing file", () =>
      Effect.gen(function* () {
        const DATA_DIR = (yield* Folder).path
        const env = { DATA_DIR, ROLES: "smtp", SMTP_TLS_CERT: "package.json" }
        assert.deepStrictEqual(
          yield* refusal(env),
          refuses("SMTP_TLS_KEY: Missing. SMTP_TLS_CERT and SMTP_TLS_KEY are required together")
        )
        assert.deepStrictEqual(
          yield* refusal({ ...env, SMTP_TLS_KEY: "/no/such/file" }),
          refuses("SMTP_TLS_KEY: /no/such/file does not exist")
        )
      })
    )

    it.effect("a file that is not a certificate", () =>
      Effect.gen(function* () {
        const env = { SMTP_TLS_CERT: "package.json", SMTP_TLS_KEY: "package.json" }
        const { _tag, message } = yield* Effect.flip(Tls.keyPair).pipe(
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
        )
        assert.strictEqual(_tag, "TlsUnusable")
        assert.match(message, /^SMTP_TLS_CERT: Expected a PEM certificate \([^\n]+\)$/)
      })
    )

    it.effect("a bucket without a key, and a bucket that is not there", () =>
      Effect.gen(function* () {
        const env = { ...bucket, DATA_DIR: (yield* Folder).path }
        assert.deepStrictEqual(
          yield* refusal({ ...env, S3_ACCESS_KEY_ID: undefined, S3_SECRET_ACCESS_KEY: undefined }),
          refuses("S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: Missing beside RAW_STORE, S3_ENDPOINT, S3_REGION, S3_BUCKET")
        )
        const { endpoint, settings } = yield* S3Server.make
        assert.deepStrictEqual(
          yield* refusal({ ...env, ...settings, S3_BUCKET: "other" }),
          refuses(`S3_BUCKET: No bucket other at ${endpoint}`)
        )
      }).pipe(Effect.scoped)
    )

    it.effect("an empty token of the operator, before it listens", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const DATA_DIR = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-start-" })
        const env = yield* installation({ DATA_DIR, LOG_LEVEL: "info" })
        yield* fs.writeFileString(`${DATA_DIR}/admin-token`, "")
        const { stderr, stdout } = yield* CommandLine.run(["start"], env)
        assert.strictEqual(
          stderr,
          `Inlet can't start: DATA_DIR: ${DATA_DIR}/admin-token is empty. Delete it, and the next start makes a new one\n`
        )
        assert.notInclude(stdout, "SMTP")
      }).pipe(Effect.scoped)
    )

    it.effect("a database without TLS that sslmode requires, at once and without the password", () =>
      Effect.gen(function* () {
        const port = yield* Ports.free
        // PostgreSQL answers N to a request for TLS that it does not support.
        const server = createServer((socket) => void socket.once("data", () => socket.write("N")))
        yield* Effect.acquireRelease(
          Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
          () => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
        )
        const DATABASE_URL = `postgres://inlet:sentinel@127.0.0.1:${port}/inlet?sslmode=require`
        assert.deepStrictEqual(
          yield* Effect.timeout(refusal({ DATABASE_URL }), "10 seconds"),
          refuses(
            `DATABASE_URL: The server at 127.0.0.1:${port} does not support TLS, and sslmode requires it. Turn TLS on (ssl = on in postgresql.conf), or in a private network remove sslmode`
          )
        )
      }).pipe(Effect.scoped)
    )

    it.effect("an HTTP or SMTP port in use", () =>
      Effect.gen(function* () {
        const DATA_DIR = (yield* Folder).path
        const port = yield* taken
        const advice = `127.0.0.1:${port} is in use. Stop the program that listens there, or choose another port`
        const { code, stderr } = yield* refusal({ DATA_DIR, HTTP_PORT: port })
        assert.strictEqual(stderr, `Inlet can't start: HTTP_PORT: ${advice}\n`)
        assert.strictEqual(code, 1)
        assert.deepStrictEqual(yield* refusal({ DATA_DIR, SMTP_PORT: port }), refuses(`SMTP_PORT: ${advice}`))
      }).pipe(Effect.scoped)
    )

    it.effect("an invalid address or port, with the name of its setting", () =>
      Effect.gen(function* () {
        const nowhere = yield* Effect.callback<Error>((resume) => {
          const server = createServer()
          server.once("error", (error) => resume(Effect.succeed(error)))
          server.listen(0, "192.0.2.1")
        })
        const explain = (cause: unknown) => ListenError.explain({ host: "SMTP_HOST", port: "SMTP_PORT" }, cause)
        assert.strictEqual(explain(nowhere), "SMTP_HOST: 192.0.2.1 is not an address of this machine")
        assert.strictEqual(
          explain({ code: "EACCES", address: "0.0.0.0", port: 25 }),
          "SMTP_PORT: This user may not listen on 0.0.0.0:25. Choose a port above 1023, or grant the right (CAP_NET_BIND_SERVICE)"
        )
        assert.strictEqual(
          explain({ code: "ENOTFOUND", hostname: "mx.example.com" }),
          "SMTP_HOST: mx.example.com does not resolve"
        )
        assert.strictEqual(explain(new Error("no more files")), "SMTP_HOST, SMTP_PORT: no more files")
      })
    )

    it.effect("a folder that cannot be created", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          yield* refusal({ DATA_DIR: "/proc/inlet" }),
          refuses(
            "DATA_DIR or RAW_DIR: ENOENT: no such file or directory, mkdir '/proc/inlet'. Name a folder that the user of the service may write in"
          )
        )
        assert.deepStrictEqual(
          yield* refusal({ DATA_DIR: "package.json/data" }),
          refuses(
            `DATA_DIR or RAW_DIR: ENOTDIR: not a directory, access '${Program.root}package.json/data'. Name a folder that the user of the service may write in`
          )
        )
      })
    )
  }
)

layer(NodeServices.layer, { excludeTestServices: true })("npm start", (it) => {
  it.effect("prints its addresses and the first command of the tour", () =>
    Effect.gen(function* () {
      const env = yield* world(yield* TestDatabase.empty)
      const program = yield* Program.start("npm", ["start"], { env })
      const printed = yield* program.says(`npm run -s inlet -- send --to <address> --port ${env.SMTP_PORT}\n`)
      const url = `http://localhost:${env.HTTP_PORT}`
      assert.include(printed, "  Mode  development; NODE_ENV=production is for mail that matters\n")
      assert.include(printed, `  API   ${url}   reference ${url}/docs\n  SMTP  127.0.0.1:${env.SMTP_PORT}\n`)
      assert.include(printed, `1. curl -s -X POST ${url}/api/workspaces`)
      assert.strictEqual((yield* call(url, "GET", "/ready")).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect.runIf(existsSync("/proc/self/environ"))(
    "limits malloc to one arena in the same process, and keeps MALLOC_ARENA_MAX if it is set",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        for (const [own, expected] of [
          [undefined, "1"],
          ["3", "3"]
        ] as const) {
          const env = yield* installation({ MALLOC_ARENA_MAX: own })
          const args = ["--max-semi-space-size=16", "start.mjs", "start"]
          const program = yield* Program.start(process.execPath, args, { env })
          yield* program.says("Listening on")
          const has = (file: string) =>
            Effect.map(fs.readFileString(`/proc/${program.pid}/${file}`), (text) => text.split("\0"))
          assert.include(yield* has("environ"), `MALLOC_ARENA_MAX=${expected}`)
          assert.include(yield* has("cmdline"), "--max-semi-space-size=16")
          yield* program.kill("SIGTERM")
          assert.strictEqual(yield* program.stderr, "")
        }
      }).pipe(Effect.scoped)
  )

  it.effect("prints only JSON, one object a line, with LOG_FORMAT=json", () =>
    Effect.gen(function* () {
      const env = yield* installation({ LOG_FORMAT: "json", LOG_LEVEL: "debug" })
      const program = yield* Program.start(process.execPath, [yield* InletProcess.script], { env })
      yield* program.says("Listening on")
      const answer = yield* call(`http://127.0.0.1:${env.HTTP_PORT}`, "GET", "/api/domains", {
        headers: { "x-request-id": "asked-by-the-test" }
      })
      assert.strictEqual(answer.status, 401)
      yield* program.says("asked-by-the-test")
      yield* program.kill("SIGTERM")
      // Until its last line is read.
      yield* program.exitCode

      const lines = (yield* program.stdout).trimEnd().split("\n")
      const entries = lines.map(
        (line): { readonly level: string; readonly message: unknown; readonly annotations: Record<string, unknown> } =>
          JSON.parse(line)
      )
      assert.isTrue(entries.some(({ annotations }) => annotations.request_id === "asked-by-the-test"))
      assert.isTrue(entries.every(({ level }) => /^[A-Z]+$/.test(level)))
      assert.isTrue(entries.every(({ message }) => typeof message === "string"))
      assert.strictEqual(yield* program.stderr, "")
    }).pipe(Effect.scoped)
  )
})
