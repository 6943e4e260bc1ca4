// Receives the webhooks of Inlet: verifies, deduplicates and prints them.
// Needs inlet-mail: `npm install inlet-mail`, or `npm run prepack` in a clone.
// INLET_WEBHOOK_SECRET=whsec_… node receiver.ts 4000
import { createServer } from "node:http"
import { buffer } from "node:stream/consumers"
import { type InboundEvent, type Rejected, verifySync } from "inlet-mail/webhook"

const secret = process.env.INLET_WEBHOOK_SECRET
if (!secret?.startsWith("whsec_")) {
  console.error("Set INLET_WEBHOOK_SECRET to the signing secret, which begins with whsec_")
  process.exit(1)
}
const port = Number(process.argv[2])

// Store these in the database, in the transaction that processes the event.
const seen = new Set<string>()

const receive = ({ event_id, extracted, recipient, subject }: InboundEvent) => {
  // Inlet delivers at least once.
  if (seen.has(event_id)) return
  seen.add(event_id)
  console.log(`${recipient}: ${subject}, code ${extracted?.code?.value}`)
}

createServer(async (request, response) => {
  try {
    receive(verifySync({ headers: request.headers, rawBody: await buffer(request), secret }))
    response.writeHead(200).end('{"ok":true}')
  } catch (error) {
    const { message } = error as Rejected
    response.writeHead(401).end(JSON.stringify({ error: message }))
  }
}).listen(port, "127.0.0.1", () => console.log(`Listening on port ${port}`))
