/** Where the console does what a route does, by the path behind `/api`, most special first. */
const places: ReadonlyArray<readonly [path: RegExp, place: string]> = [
  [/^\/instant-inbox$/, "the page Domains"],
  [/^\/workspaces\/rotate-secret$/, "the page Webhook"],
  [/^\/workspaces/, "the page Keys and limits"],
  [/^\/trace/, 'the page "Where is my mail?"'],
  [/\/events\/[^/]+|^…\/(?:replay|release)$|\/delivery-attempts$/, "the page of the mail"],
  [/\/events$/, "the inbox"],
  [/\/refusals$/, "the page Refused mail"],
  [/\/replays/, '"Replay" on the page Webhook'],
  [/\/webhooks?\/(?:[^/]+\/)?test$/, "the test on the page Webhook"],
  [/\/(?:delivery$|webhook)/, "the page Webhook"],
  [/^\/domains(?:\/(?:orders(?:\/[^/]+)?|purchase|search)[^/]*)?$/, "the page Domains"],
  [/^\/domains\/[^/]+\/verify$/, '"Verify" on the page of the domain'],
  [/^\/domains\/[^/]+(?:\/(?:health|mx|dns|sender-rules(?:\/[^/]+)?))?$/, "the page of the domain"]
]

const route =
  /(with |call )?(?:GET|POST|PATCH|DELETE) (?:\/api)?((?:…|\/)[\w{}/-]*\w\}?)(?:\?[\w={}…%@.-]+[\w…])?(?: \{[^{}]*\})?/g

/** A message of the service, which names routes, with the pages that do the same. Other routes stay. */
export const inConsole = (message: string): string =>
  message.replace(route, (all: string, means: string | undefined, path: string, offset: number) => {
    const place = places.find(([pattern]) => pattern.test(path))?.[1]
    if (place === undefined) return all
    if (means === "call ") return `use ${place}`
    if (means === "with ") return `${place.startsWith("the page") ? "on" : "with"} ${place}`
    const isFirst = offset === 0 || message.slice(0, offset).endsWith(". ")
    return isFirst ? place.charAt(0).toUpperCase() + place.slice(1) : place
  })
