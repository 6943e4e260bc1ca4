// Hands the mail of Cloudflare Email Routing over to Inlet. `inlet bridge cloudflare` wrote this file.
//
// The mail is accepted only if Inlet has stored it, and rejected only if Inlet refuses it for good. In every other case
// the Worker throws. Cloudflare then answers the sending server with a temporary error, and that server sends the mail
// again. Inlet recognizes a mail that it has stored before.

/** Inlet answers within 10 s of the last byte. */
const patienceMillis = 25_000

/** The topmost field is the one that Cloudflare adds. Another form of it names no client. */
const received = /^from ([^\s<>]{1,255}) \(([\da-f.:]{2,45})\)\s+by cloudflare-email\.net\b/i

const urlOf = ({ from, headers, to }, env) => {
  const url = new URL(`api/domains/${env.INLET_DOMAIN_ID}/ingest`, env.INLET_URL.replace(/\/*$/, "/"))
  url.searchParams.set("from", from.replace(/^<(.*)>$/, "$1"))
  url.searchParams.set("recipient", to.replace(/^<(.*)>$/, "$1"))
  const [, helo, client] = received.exec(headers.get("received") ?? "") ?? []
  if (client !== undefined) {
    url.searchParams.set("client", client)
    url.searchParams.set("helo", helo)
  }
  return url
}

/** An answer that is no JSON comes from another server than Inlet. */
const jsonOf = (text) => new Response(text).json().catch(() => null)

export default {
  async email(message, env) {
    const response = await fetch(urlOf(message, env), {
      method: "POST",
      headers: { authorization: `Bearer ${env.INLET_INGEST_KEY}`, "content-type": "message/rfc822" },
      body: message.raw,
      redirect: "manual",
      signal: AbortSignal.timeout(Number(env.INLET_PATIENCE_MILLIS ?? patienceMillis))
    })
    // A torn answer throws here.
    const answer = (await jsonOf(await response.text())) ?? {}
    if (response.status === 202 && typeof answer.inbound_email_id === "string") return
    const { smtp } = answer
    if (response.status >= 400 && response.status < 500 && smtp?.code >= 500) {
      message.setReject(`${smtp.enhanced} ${smtp.text}`)
      return
    }
    throw new Error(`Inlet answered ${response.status}: ${answer.error ?? "no answer of Inlet"}`)
  }
}
