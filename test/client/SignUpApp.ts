import { createServer, type IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { Effect } from "effect"
import { createTransport } from "nodemailer"

const page = (body: string) => `<!doctype html><title>Acme</title>${body}`

const form = (action: string, button: string, fields = "") =>
  page(`<form method="post" action="${action}">${fields}<button>${button}</button></form>`)

const email = '<label>Email <input name="email" type="email" required></label>'
const codeField = '<label>Code <input name="code" required></label>'

/** An application with a sign-up that sends mail by SMTP to this port and has no knowledge of Inlet. */
export const serve = Effect.fnUntraced(function* (smtpPort: number) {
  const transport = createTransport({ host: "127.0.0.1", port: smtpPort, tls: { rejectUnauthorized: false } })
  const send = (to: string, subject: string, text: string) =>
    transport.sendMail({ from: "Acme <no-reply@acme.example>", to, subject, text })
  const tokens = new Map<string, string>()
  const codes = new Map<string, string>()
  let base = ""

  const answer = (request: IncomingMessage, fields: URLSearchParams): Promise<string> | string => {
    const { pathname, searchParams } = new URL(request.url ?? "", base)
    const address = fields.get("email") ?? tokens.get(searchParams.get("token") ?? "") ?? ""
    switch (`${request.method} ${pathname}`) {
      case "GET /sign-up":
        return form("/sign-up", "Sign up", email)
      case "POST /sign-up": {
        const token = crypto.randomUUID()
        tokens.set(token, address)
        const link = `${base}/verify?token=${token}`
        return send(address, "Welcome to Acme", `Please verify your email address:\n\n${link}\n`).then(() =>
          page("Look into your mail")
        )
      }
      case "GET /verify":
        return form(`/code${new URL(request.url ?? "", base).search}`, "Send me a code")
      case "POST /code": {
        const code = `${100_000 + codes.size * 977}`
        codes.set(code, address)
        // The page is served before the mail is sent.
        void send(address, "Your code to sign in", `Your verification code is ${code}.\n`)
        return form("/sign-in", "Sign in", codeField)
      }
      case "POST /sign-in": {
        const known = codes.get(fields.get("code") ?? "")
        return page(known === undefined ? "No such code" : `Welcome, ${known}`)
      }
      default:
        return page("Nothing is here")
    }
  }

  const server = createServer((request, response) => {
    void text(request)
      .then((body) => answer(request, new URLSearchParams(body)))
      .then((html) => response.writeHead(200, { "content-type": "text/html" }).end(html))
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        transport.close()
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )
  const address = server.address()
  base = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  return base
})
