// The simplest script: parse in memory, POST once, store nothing.
import { simpleParser } from "mailparser"
import { SMTPServer } from "smtp-server"

const [port, webhook] = [Number(process.argv[2]), process.argv[3]]

const server = new SMTPServer({
  disabledCommands: ["AUTH", "STARTTLS"],
  disableReverseLookup: true,
  onData(stream, session, callback) {
    const recipient = session.envelope.rcptTo[0].address
    simpleParser(stream).then(
      async (mail) => {
        callback()
        await fetch(webhook, {
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
      },
      (error) => callback(error)
    )
  }
})
server.on("error", () => {})
server.listen(port, "127.0.0.1", () => console.log("listening"))
