import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path } from "effect"
import { Argument, Command } from "effect/cli"
import * as SeenHtml from "../src/content/html/SeenHtml.ts"
import * as Reply from "../src/content/reply/Reply.ts"
import * as Mime from "../src/mime/Mime.ts"
import * as ReplyScore from "./ReplyScore.ts"

// Scores `reply` on a folder of mails: `emails` has them as plain text (.txt), HTML (.html) or complete messages
// (.eml), and `trimmed` has the expected replies as .txt with the same name.

const textOf = (name: string, bytes: Uint8Array) => {
  if (name.endsWith(".eml")) return Mime.read(bytes)
  const text = Buffer.from(bytes).toString("utf8").replaceAll("\r\n", "\n")
  return name.endsWith(".html") ? { text: SeenHtml.see(text).text, html: text } : { text, html: null }
}

const program = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files = (yield* fs.readDirectory(path.join(folder, "emails"))).toSorted()
  const scored = yield* Effect.forEach(files, (name) =>
    Effect.gen(function* () {
      const mail = textOf(name, yield* fs.readFile(path.join(folder, "emails", name)))
      const wanted = yield* fs.readFileString(path.join(folder, "trimmed", name.replace(/\.[^.]+$/, ".txt")))
      const seen = SeenHtml.see(mail.html ?? "")
      const marked = seen.hasGaps ? seen.ownText : undefined
      const found = Reply.read({ text: mail.text, marked }) ?? mail.text
      return { name, mail: mail.text, wanted: wanted.replaceAll("\r\n", "\n"), found }
    })
  )
  const { exact, kept, left, mails, others } = ReplyScore.of(scored)
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`
  yield* Effect.forEach(others, (name) => Console.log(`not the same: ${name}`))
  yield* Console.log(
    `${mails} mails: ${exact} replies are the same to the letter, ${percent(kept)} of the words that are wanted are kept, ${percent(left)} of the others are left`
  )
})

const folder = Argument.String("folder").pipe(Argument.withDescription("a folder with subfolders emails and trimmed"))

const command = Command.make("replies", { folder }, ({ folder }) => program(folder)).pipe(
  Command.withDescription("Scores `reply` on a folder of mails")
)

Command.run(command, { version: "1" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
