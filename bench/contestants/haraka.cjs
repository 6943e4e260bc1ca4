// A Haraka plugin: file and fsync before the 250, which Haraka sends, and a queue in memory.
const { randomUUID } = require("node:crypto")
const { open } = require("node:fs/promises")
const { simpleParser } = require("mailparser")

// The globals that Haraka passes to its plugins.
const { BENCH_FOLDER: folder, BENCH_WEBHOOK: webhook } = process.env

const keep = async (id, raw) => {
  const file = await open(`${folder}/${id}.eml`, "wx")
  await file.writeFile(raw)
  await file.sync()
  await file.close()
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

exports.hook_lookup_rdns = (next) => next(OK, "localhost")
exports.hook_rcpt = (next) => next(OK)
exports.hook_queue = (next, { transaction }) => {
  const recipient = transaction.rcpt_to[0].address
  transaction.message_stream.get_data((raw) => {
    keep(randomUUID(), raw).then(
      () => {
        next(OK)
        queue.push({ raw, recipient })
        if (working < 16) {
          working++
          work()
        }
      },
      () => next(DENYSOFT)
    )
  })
}
