import { type IncomingMessage, request, type ServerResponse } from "node:http"

/** Passes requests without a body on to the service at this URL, as a proxy does: a reaction of a `WebhookReceiver`. */
export const to = (url: string) => (asked: IncomingMessage, answer: ServerResponse) => {
  request(`${url}${asked.url}`, { headers: asked.headers }, (answered) => {
    answer.writeHead(answered.statusCode ?? 500, answered.headers)
    answered.pipe(answer)
  }).end()
}
