// The same script made durable: file, fsync and one row before the 250, and a queue in memory.
import { randomUUID } from "node:crypto"
import { mkdirSync } from "node:fs"
import { open } from "node:fs/promises"
import { simpleParser } from "mailparser"
import pg from "pg"
import { SMTPServer } from "smtp-server"

const [port, webhook, database, folder] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: database, max: 20 })
await pool.query("CREATE TABLE mails (id uuid PRIMARY KEY, recipient text, received_at timestamptz DEFAULT now())")
mkdirSync(folder, { recursive: true })

const keep = async (id, recipient, raw) => {
  const file = await open(`${folder}/${id}.eml`, "wx")
  await file.writeFile(raw)
  await file.sync()
  await file.close()
  await pool.query("INSERT INTO mails (id, recipient) VALUES ($1, $2)", [id, recipient])
}

const queue = []
let working = 0
const work = async () => {
  for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
    const { raw, recipient } = job
    const mail = await simpleParser(raw)
    const response = await fetch(webhook, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        recipient,
        from: mail.from?.text,
        subject: mail.subject,
        text: mail.text,
        html: mail.html || null,
        attachments: mail.attachments.map(({ filename, contentType, size }) => ({ filename, contentType, size }))
      })
    })
    await response.arrayBuffer()
  }
  working--
}

const server = new SMTPServer({
  disabledCommands: ["AUTH", "STARTTLS"],
  disableReverseLookup: true,
  onData(stream, session, callback) {
    const chunks = []
    stream.on("data", (chunk) => chunks.push(chunk))
    stream.on("end", () => {
      const raw = Buffer.concat(chunks)
      const recipient = session.envelope.rcptTo[0].address
      keep(randomUUID(), recipient, raw).then(() => {
        callback()
        queue.push({ raw, recipient })
        if (working < 16) {
          working++
          work()
        }
      }, callback)
    })
  }
})
server.on("error", () => {})
server.listen(Number(port), "127.0.0.1", () => console.log("listening"))
