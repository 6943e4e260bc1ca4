import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Path, Schema } from "effect"
import { extract } from "tar"
import * as Program from "../Program.ts"

/** The dev dependencies of a customer's test suite, taken from this project. */
const installed = ["@playwright/test", "@types/node", "nodemailer", "vitest"]

/** A folder with the package's files without its dependencies, beside the test runners and a mail sender. */
export const folder = Effect.fnUntraced(function* (tarball: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-suite-" })
  const own = path.join(folder, "node_modules/inlet-mail")
  yield* fs.makeDirectory(own, { recursive: true })
  yield* Effect.promise(() => extract({ file: tarball, cwd: own, strip: 1 }))
  for (const name of installed) {
    const link = path.join(folder, "node_modules", name)
    yield* fs.makeDirectory(path.dirname(link), { recursive: true })
    yield* fs.symlink(path.join(Program.root, "node_modules", name), link)
  }
  yield* fs.writeFileString(path.join(folder, "package.json"), '{ "type": "module" }\n')
  // Each runner would collect the files of the other.
  for (const part of parts) yield* fs.makeDirectory(path.join(folder, part))
  const run = (args: ReadonlyArray<string>, env: Program.Options["env"] = {}, part: (typeof parts)[number] | "" = "") =>
    Program.run(process.execPath, args, { cwd: path.join(folder, part), env: { CI: "true", ...env } }).pipe(
      Effect.provide(NodeServices.layer)
    )
  return {
    path: folder,
    write: (file: string, text: string) => Effect.orDie(fs.writeFileString(path.join(folder, file), text)),
    read: (file: string) => Effect.orDie(fs.readFileString(path.join(folder, file))),
    run,
    /** The compiler's messages for files, with the types of Node by default. */
    check: (files: ReadonlyArray<string>, types: ReadonlyArray<string> = ["--types", "node", "--skipLibCheck"]) =>
      Effect.map(run([bin("typescript/bin/tsc"), ...strict, ...types, ...files]), ({ code, stdout }) => ({
        code,
        stdout
      })),
    playwright: (args: ReadonlyArray<string>, env: Program.Options["env"]) =>
      run([bin("@playwright/test/cli.js"), "test", ...args], env, "playwright")
  }
})

const bin = (path: string) => `${Program.root}node_modules/${path}`

const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--module", "nodenext", "--target", "es2024"]

const parts = ["playwright", "vitest"] as const

export type Folder = Effect.Success<ReturnType<typeof folder>>

/** The steps of each test, for any runner: two mails of its own must arrive, and no other. */
const ownMail = `
import assert from "node:assert/strict"
import { createTransport } from "nodemailer"

const transport = createTransport({ host: "127.0.0.1", port: Number(process.env.SMTP_PORT), tls: { rejectUnauthorized: false } })

export const ownMailAlone = async (number, { inbox, inlet }) => {
  const code = String(100_000 + number * 977)
  const url = \`https://app.acme.example/verify?token=b7f3c2d19e8a4560\${code}\`
  const from = "Acme <no-reply@acme.example>"
  const texts = [\`Your verification code is \${code}.\`, \`Verify your email address:\\n\\n\${url}\\n\`]
  const sent = texts.map((text) => transport.sendMail({ from, to: inbox.address, subject: \`Test \${number}\`, text }))
  assert.equal(await inbox.code(), code)
  assert.equal(await inbox.link("verify"), url)
  await Promise.all(sent)
  if (number % 10 === 0) await inbox.none(1_000)
  const { events } = await inlet.events.list(inbox.domainId, { recipient: inbox.address })
  assert.deepEqual(events.map(({ subject }) => subject), [\`Test \${number}\`, \`Test \${number}\`])
}
`

interface Suite {
  readonly tests: number
  readonly workers: number
  readonly url: string
  readonly smtpPort: number
  readonly apiKey: string
}

/** The outcome of a suite's run. */
export interface Outcome {
  readonly passed: number
  readonly failed: number
  readonly seconds: number
  readonly output: string
}

const PlaywrightReport = Schema.fromJsonString(
  Schema.Struct({
    stats: Schema.Struct({ expected: Schema.Int, unexpected: Schema.Int, flaky: Schema.Int, duration: Schema.Finite })
  })
)

/** Runs the folder's tests and this many generated ones, each with an inbox of its own. */
export const playwright = Effect.fnUntraced(function* (
  folder: Folder,
  { apiKey, smtpPort, tests, url, workers }: Suite
) {
  yield* folder.write("playwright/own-mail.js", ownMail)
  yield* folder.write(
    "playwright/own.spec.ts",
    `import { test } from "inlet-mail/playwright"
     // @ts-ignore: plain JavaScript
     import { ownMailAlone } from "./own-mail.js"
     test.describe.configure({ mode: "parallel" })
     for (let number = 0; number < ${tests}; number++) {
       test(\`test \${number} has its own mail\`, ({ inbox, inlet }) => ownMailAlone(number, { inbox, inlet }))
     }`
  )
  const { code, stderr, stdout } = yield* folder.playwright(["--reporter=json", `--workers=${workers}`], {
    INLET_URL: url,
    INLET_API_KEY: apiKey,
    SMTP_PORT: `${smtpPort}`
  })
  const output = `${stdout}\n${stderr}`
  const { stats } = yield* Effect.orElseSucceed(Schema.decodeEffect(PlaywrightReport)(stdout), () => ({
    stats: { expected: 0, unexpected: code, flaky: 0, duration: 0 }
  }))
  const outcome: Outcome = {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky,
    seconds: stats.duration / 1_000,
    output
  }
  return outcome
})

const VitestReport = Schema.fromJsonString(
  Schema.Struct({ numPassedTests: Schema.Int, numFailedTests: Schema.Int, startTime: Schema.Finite })
)

/** The same with vitest: one file for each worker. */
export const vitest = Effect.fnUntraced(function* (folder: Folder, { apiKey, smtpPort, tests, url, workers }: Suite) {
  yield* folder.write("vitest/own-mail.js", ownMail)
  for (let file = 0; file < workers; file++) {
    yield* folder.write(
      `vitest/own-${file}.test.ts`,
      `import { Inlet } from "inlet-mail/client"
       import { test } from "vitest"
       import { ownMailAlone } from "./own-mail.js"
       const inlet = new Inlet({ url: process.env.INLET_URL, apiKey: process.env.INLET_API_KEY })
       for (let number = ${file}; number < ${tests}; number += ${workers}) {
         test(\`test \${number} has its own mail\`, { timeout: 30_000 }, async () =>
           ownMailAlone(number, { inbox: await inlet.inbox(), inlet }))
       }`
    )
  }
  const began = performance.now()
  const { stderr, stdout } = yield* folder.run(
    [bin("vitest/vitest.mjs"), "run", "--reporter=json", "--outputFile=vitest.json", `--maxWorkers=${workers}`],
    { INLET_URL: url, INLET_API_KEY: apiKey, SMTP_PORT: `${smtpPort}`, VITEST: undefined, NODE_ENV: undefined },
    "vitest"
  )
  const seconds = (performance.now() - began) / 1_000
  const report = yield* Schema.decodeEffect(VitestReport)(yield* folder.read("vitest/vitest.json"))
  const outcome: Outcome = {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    seconds,
    output: `${stdout}\n${stderr}`
  }
  return outcome
})
