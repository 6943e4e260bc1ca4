import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path } from "effect"
import { Argument, Command } from "effect/cli"
import * as Mime from "../src/mime/Mime.ts"
import * as SeenScore from "./SeenScore.ts"
import * as ShownText from "./ShownText.ts"

// Prints the share of the words in Chromium (`innerText`) that Inlet considers visible, over all mails of a folder
// whose HTML has 20 words or more.

const fewest = 20

const percent = (share: number) => `${(share * 100).toFixed(2)} %`

const program = Effect.fnUntraced(function* (folder: string, browser: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const read = yield* ShownText.reader(yield* ShownText.launch(browser))
  let mails = 0
  let words = 0
  let missing = 0
  let hidden = 0
  for (const name of (yield* fs.readDirectory(folder, { recursive: true })).toSorted()) {
    const file = path.join(folder, name)
    if ((yield* fs.stat(file)).type !== "File") continue
    const bytes = yield* fs.readFile(file)
    const html = /\.html?$/.test(name) ? Buffer.from(bytes).toString("utf8") : Mime.read(bytes).html
    if (html === null) continue
    const score = SeenScore.of(html, yield* read(html))
    if (score.words < fewest) continue
    mails++
    words += score.words
    missing += score.missing.length
    hidden += score.hidden
    if (score.missing.length > 0) {
      yield* Console.log(
        `${name}: ${score.missing.length} of ${score.words} words are not there, ${score.hidden} of them as hidden: ${score.missing.slice(0, 12).join(" ")}`
      )
    }
  }
  yield* Console.log(
    `${mails} mails: ${percent(words === 0 ? 1 : (words - missing) / words)} of ${words} words are there, ${hidden} of the ${missing} others were left out as hidden`
  )
}, Effect.scoped)

const folder = Argument.String("folder").pipe(Argument.withDescription("mails (.eml) or pages (.html)"))
const browser = Argument.String("chromium").pipe(
  Argument.withDescription("its program"),
  Argument.withDefault("/usr/bin/chromium")
)

const command = Command.make("seen", { folder, browser }, ({ browser, folder }) => program(folder, browser)).pipe(
  Command.withDescription("Compares the text made from HTML with what Chromium shows")
)

Command.run(command, { version: "1" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
