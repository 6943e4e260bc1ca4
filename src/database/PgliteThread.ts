import { parentPort, workerData } from "node:worker_threads"
import { PGlite } from "@electric-sql/pglite"

/** What a thread is asked: to pass on a piece of the wire protocol, or to close the database and end. */
export type Asked = Uint8Array | "close"

/** What it says: that the database is open, and what the database answers to each piece, in their order. */
export type Said = "open" | { readonly answer: Uint8Array } | { readonly failure: unknown }

const serve = (port: NonNullable<typeof parentPort>, folder: string) => {
  const say = (said: Said) => port.postMessage(said)
  PGlite.create(folder).then(
    (database) => {
      port.on("message", (asked: Asked) => {
        if (asked === "close") {
          database.close().finally(() => port.close())
        } else {
          database.execProtocolRaw(asked).then(
            (answer) => say({ answer }),
            (failure) => say({ failure })
          )
        }
      })
      say("open")
    },
    (failure) => say({ failure })
  )
}

// Started by EmbeddedDatabase alone, which passes the folder.
if (parentPort !== null) serve(parentPort, workerData as string)
