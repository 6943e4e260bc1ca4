/** The commands for routes, most special first. `$1` and `$2` are the ids of the path, or of the body. */
export const commands: ReadonlyArray<readonly [route: string, command: string]> = [
  ["The same request with trust=held and without wait", "inlet events list --trust held"],
  ["GET /api/trace?to=:id", "inlet trace --to $1"],
  ["POST /api/instant-inbox", "inlet inboxes create"],
  ["POST /api/workspaces/keys", "inlet keys create"],
  ["GET /api/workspaces/keys", "inlet keys"],
  ["DELETE /api/workspaces/keys/:id", "inlet keys revoke ID"],
  ["POST /api/workspaces/rotate-secret", "inlet workspaces rotate-secret"],
  ["POST /api/workspaces", "inlet workspaces create NAME"],
  ["POST /api/domains/purchase", "inlet purchase NAME"],
  ["GET /api/domains/orders/:id", "inlet orders get $1"],
  ["GET /api/domains/orders", "inlet orders list"],
  ['POST /api/domains with {"domain": ":id"}', "inlet domains add $1"],
  ["POST /api/domains/:id/verify", "inlet domains verify $1"],
  ["GET /api/domains/:id/mx", "inlet domains mx $1"],
  ["GET /api/domains/:id/health", "inlet doctor --domain $1"],
  ['PATCH /api/domains/:id/delivery {"webhookUrl": null}', "inlet domains webhook $1 --none"],
  ['PATCH /api/domains/:id/delivery {"pull": true}', "inlet domains pull $1"],
  ['PATCH /api/domains/:id/delivery {"webhookUrl": "https://…"}', "inlet domains webhook $1 https://…"],
  ["PATCH /api/domains/:id/delivery", "inlet domains webhook $1 URL"],
  ["GET /api/domains/:id/webhooks/match?recipient=…", "inlet webhooks match ADDRESS"],
  ["POST /api/domains/:id/webhooks/:id/test", "inlet webhooks test $1 $2"],
  ["POST /api/domains/:id/webhook/test", "inlet webhooks test $1"],
  ["GET /api/domains/:id/webhooks", "inlet webhooks list $1"],
  ['PATCH /api/domains/:id/webhooks/:id {"action": "pull"}', "inlet webhooks update $1 $2 --action pull"],
  ['PATCH /api/domains/:id/webhooks/:id {"action": "webhook"}', "inlet webhooks update $1 $2 --action webhook"],
  ["PATCH /api/domains/:id/webhooks/:id", "inlet webhooks update $1 $2"],
  ["DELETE /api/domains/:id/sender-rules/:id", "inlet senders remove $1 $2"],
  ["GET /api/domains/:id/sender-rules", "inlet senders list $1"],
  ["POST /api/domains/:id/events/:id/release", "inlet senders release $1 $2"],
  ["POST /api/domains/:id/events/:id/replay?force=true", "inlet replay $2 --force"],
  ["POST /api/domains/:id/events/:id/replay", "inlet replay $2"],
  ["?webhook=ID", "--webhook ID"],
  ['{"authentication": {"dmarc": "pass"}}', "inlet simulate --dmarc pass"],
  ["GET /api/domains/:id/events/:id/raw", "inlet raw $2"],
  ["GET /api/domains/:id/delivery-attempts", "inlet attempts --domain $1"],
  ["GET /api/domains/:id/events", "inlet events list --domain $1"],
  ["DELETE /api/domains/:id/replays/:id", "inlet replays stop $2 --domain $1"],
  ["GET /api/domains/:id/replays/:id", "inlet replays get $2 --domain $1"],
  ["GET /api/domains/:id/replays", "inlet replays list --domain $1"],
  ['POST /api/domains/:id/replays {"status": "dead"}', "inlet replay --dead --domain $1"],
  ['POST /api/domains/:id/replays {"status": "held"}', "inlet replay --held --domain $1"],
  ['PATCH /api/domains/:id {"spam": "tag"}', "inlet domains spam $1 tag"],
  ["DELETE /api/domains/:id", "inlet domains remove $1"],
  ["GET /api/domains/:id", "inlet domains get $1"],
  ["GET /api/domains", "inlet domains list"],
  ["POST /api/domains", "inlet domains add NAME"],
  ["GET /api/events", "inlet events list"],
  ["GET /admin/workspaces", "inlet admin workspaces list"]
]

const literal = (text: string) => text.replace(/[.?*+^$()[\]{}|\\]/g, "\\$&")

/** An id, or the name of one. */
const id = "(\\{\\w+\\}|[\\w.-]*\\w)"

/** No longer route begins with it. */
const end = "(?![\\w/?{}-]|\\.\\w)"

const patterns = commands.map(
  ([route, command]) => [new RegExp(`${literal(route).replaceAll(":id", id)}${end}`, "g"), command] as const
)

/** What a person types for an id that the message leaves open, such as `{webhookId}`. */
const openIds: Readonly<Record<string, string>> = {
  "{id}": "DOMAIN",
  "{webhookId}": "PATTERN",
  "{eventId}": "EVENT_ID",
  "{replayId}": "REPLAY_ID",
  "{ruleId}": "RULE_ID"
}

/** A message of the service, which names routes, with the commands that call them. Routes without a command stay. */
export const inCommands = (message: string): string =>
  patterns.reduce(
    (text, [route, command]) =>
      text.replace(
        route,
        (_, ...ids: ReadonlyArray<string>) =>
          `\`${command.replace(/\$(\d)/g, (_, place: string) => {
            const id = ids[Number(place) - 1] ?? ""
            return openIds[id] ?? id
          })}\``
      ),
    message
  )
