// The demo page. What a mail says is put in place with textContent alone; its HTML part is a
// document of its own, in a sandboxed frame with a policy of its own. Its buttons to copy are those of copy.js.

const $ = (id) => document.getElementById(id)

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** Newest first. */
let events = []
let selected
let tab = "tab-text"
/** The sample that was asked for last is shown when it comes. */
let wanted

// The cookie is none of a script's business, so the page itself remembers that there is one.
const remembered = "inlet-demo-until"

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" })
const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

const subjectOf = (event) => event.subject || "(no subject)"

/** What an answer says. A proxy in between answers with a page of its own when the service is away. */
const answerOf = async (response) => {
  const text = await response.text()
  let body
  try {
    body = JSON.parse(text)
  } catch {
    throw new Error(`The service did not answer as it should (${response.status}). Try again in a moment.`)
  }
  if (!response.ok) throw new Error(body.error ?? `The service answered ${response.status}.`)
  return body
}

const open = async () => {
  $("open").disabled = true
  $("problem").hidden = true
  try {
    const response = await fetch("/api/demo/inbox", { method: "POST" })
    const body = await answerOf(response)
    if (response.status === 201) localStorage.setItem(remembered, `${Date.now() + 24 * 60 * 60 * 1000}`)
    show(body)
    follow()
    return true
  } catch (error) {
    localStorage.removeItem(remembered)
    $("problem").textContent = error instanceof TypeError ? "The service can't be reached. Try again." : error.message
    $("problem").hidden = false
    return false
  } finally {
    $("open").disabled = false
  }
}

const show = ({ address, domain }) => {
  $("start").hidden = true
  $("address-section").hidden = false
  $("inbox").hidden = false
  $("address").textContent = address
  $("other").textContent = `anything@${domain}`
  $("mailto").href = `mailto:${address}?subject=${encodeURIComponent("Hello")}`
  const smtp = $("main").dataset.smtp
  const lines = [
    ...(smtp === ""
      ? []
      : [["inlet", `${$("main").dataset.send} --to ${address} --subject "Hello" --text "Can you read this?"`]]),
    [
      "swaks",
      `swaks ${smtp === "" ? "" : `--server ${smtp} `}--to ${address} --from ada@sender.example --header "Subject: Hello" --body "Can you read this?"`
    ]
  ]
  $("send-lines").replaceChildren(
    ...lines.map(([name, line]) =>
      element(
        "div",
        { className: "code" },
        element("pre", {}, element("code", { id: `send-${name}`, textContent: line })),
        copyButton(`send-${name}`, `Copy the line for ${name}`)
      )
    )
  )
  // Where mail does not find its way by itself, the line that sends one is what is needed next.
  $("terminal").open = smtp !== ""
}

const copyButton = (target, label) => {
  const button = element("button", { type: "button", textContent: "Copy" })
  button.dataset.copy = target
  button.setAttribute("aria-label", label)
  return button
}

/** Listens first and then looks at what is there already, so that nothing falls in between. */
const follow = () => {
  const source = new EventSource("/api/demo/events/stream")
  source.addEventListener("open", async () => {
    state("live", "Listening")
    const known = []
    let cursor = ""
    while (cursor !== null) {
      const response = await fetch(`/api/demo/events${cursor === "" ? "" : `?cursor=${cursor}`}`)
      if (!response.ok) break
      const page = await response.json()
      known.push(...page.events)
      cursor = page.next_cursor
    }
    for (const event of known.reverse()) receive(event)
  })
  source.addEventListener("inbound.email.received", ({ data }) => receive(JSON.parse(data)))
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.CLOSED) return state("waiting", "Connection lost, trying again…")
    state("over", "This inbox is over. Reload the page for a new one.")
  })
}

const state = (name, text) => {
  $("state").dataset.state = name
  $("state").textContent = text
}

const receive = (event) => {
  if (events.some(({ event_id }) => event_id === event.event_id)) return
  if (document.hidden) titled(unseen + 1)
  events = [event, ...events].sort((a, b) => (a.event_id < b.event_id ? 1 : -1))
  $("empty").hidden = true
  $("panes").hidden = false
  $("announce").textContent = `New mail from ${event.from}: ${subjectOf(event)}`
  const entry = entryOf(event)
  const at = events.indexOf(event)
  $("list").insertBefore(entry, $("list").children[at] ?? null)
  if (selected === undefined || event.inbound_email_id === wanted) select(event)
}

/** Mail that has come while the page was in the background. */
let unseen = 0
const title = document.title

const titled = (count) => {
  unseen = count
  document.title = count === 0 ? title : `(${count}) ${title}`
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) titled(0)
})

/** The author as a person knows it. */
const authorOf = (event) => event.fromName || event.from || "(no sender)"

const entryOf = (event) => {
  const received = new Date(event.receivedAt)
  const button = element(
    "button",
    { type: "button" },
    element("span", { className: "entry-from", textContent: authorOf(event), dir: "auto" }),
    element("time", { dateTime: event.receivedAt, textContent: clock.format(received) }),
    element(
      "span",
      { className: "entry-subject" },
      element("bdi", { textContent: subjectOf(event) }),
      ...(event.attachments.length === 0 ? [] : [paperClip(event.attachments.length)])
    )
  )
  button.addEventListener("click", () => select(event, { reveal: true }))
  const item = element("li", {}, button)
  item.dataset.id = event.event_id
  return item
}

const paperClip = (count) => {
  const words = count === 1 ? "1 attachment" : `${count} attachments`
  const svg = "http://www.w3.org/2000/svg"
  const clip = document.createElementNS(svg, "svg")
  const path = document.createElementNS(svg, "path")
  path.setAttribute("d", "M11 5 6 10a1.5 1.5 0 0 0 2 2l5-5a3 3 0 0 0-4-4L4 8a4.5 4.5 0 0 0 6 6l4-4")
  clip.append(path)
  clip.setAttribute("class", "clip")
  clip.setAttribute("viewBox", "0 0 16 16")
  clip.setAttribute("role", "img")
  clip.setAttribute("aria-label", words)
  return clip
}

const select = (event, { reveal = false } = {}) => {
  selected = event.event_id
  for (const item of $("list").children) {
    const isIt = item.dataset.id === selected
    if (isIt) item.firstChild.setAttribute("aria-current", "true")
    else item.firstChild.removeAttribute("aria-current")
  }
  const view = $("mail-template").content.cloneNode(true)
  const field = (name, text) => {
    view.querySelector(`[data-field="${name}"]`).textContent = text
  }
  const part = (name) => view.querySelector(`[data-part="${name}"]`)
  field("subject", subjectOf(event))
  field("from", `${event.fromName ? `${event.fromName} <${event.from}>` : event.from} → ${event.recipient}`)
  field("text", event.text || "(no text)")
  part("fields").replaceChildren(...fieldsOf(event))
  part("reply").hidden = typeof event.reply !== "string"
  field("reply", event.reply ?? "")
  part("hidden").hidden = event.hiddenText !== true
  part("hidden").addEventListener("toggle", showHidden(event, view.querySelector('[data-field="hidden"]')), {
    once: true
  })
  part("headers").textContent = headersOf(event)
  part("json").textContent = JSON.stringify(event, null, 2)

  const tabs = [...view.querySelectorAll('[role="tab"]')]
  const htmlTab = view.getElementById("tab-html")
  if (event.html === null) {
    htmlTab.disabled = true
    htmlTab.textContent = "No HTML part"
  }
  $("mail").replaceChildren(view)
  for (const [index, each] of tabs.entries()) {
    each.addEventListener("click", () => choose(each.id, event))
    each.addEventListener("keydown", ({ key }) => {
      const usable = tabs.filter(({ disabled }) => !disabled)
      const from = usable.indexOf(tabs[index])
      const to = { ArrowRight: from + 1, ArrowLeft: from - 1 + usable.length, Home: 0, End: usable.length - 1 }[key]
      if (to === undefined) return
      const next = usable[to % usable.length]
      choose(next.id, event)
      next.focus()
    })
  }
  choose(tab === "tab-html" && event.html === null ? "tab-text" : tab, event)
  // On a phone the mail is below the list.
  if (reveal && matchMedia("(max-width: 52rem)").matches) $("mail").focus()
}

/** They are asked for by name, and by who wants to see them. */
const showHidden = (event, place) => async () => {
  const response = await fetch(`/api/demo/events/${event.event_id}/content?part=hidden&max_chars=20000`)
  const body = await response.json()
  place.textContent = response.ok ? body.content : body.error
}

const choose = (id, event) => {
  tab = id
  for (const each of $("mail").querySelectorAll('[role="tab"]')) {
    const chosen = each.id === id
    each.setAttribute("aria-selected", `${chosen}`)
    each.tabIndex = chosen ? 0 : -1
    const panel = $(each.getAttribute("aria-controls"))
    panel.hidden = !chosen
    panel.tabIndex = 0
  }
  const place = $("mail").querySelector('[data-part="frame"]')
  if (id === "tab-html" && place.childElementCount === 0) {
    const frame = element("iframe", { title: "HTML part of the mail", src: `/api/demo/events/${event.event_id}/html` })
    frame.setAttribute("sandbox", "")
    place.append(frame)
  }
}

const fieldsOf = (event) => {
  const size = (bytes) => (bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KiB`)
  const verdicts = Object.entries(event.authentication).map(([name, verdict]) => `${name} ${verdict}`)
  const { code, links, unsubscribe } = event.extracted ?? { code: null, links: [], unsubscribe: null }
  // What an agent asks for comes first. A link is shown and can't be followed: it may be a stranger's.
  const rows = [
    ...(code === null ? [] : [["Code", code.confidence === "high" ? code.value : `${code.value} (a guess)`]]),
    ...links.map(({ kind, text, url }) => [`Link (${kind})`, text === "" ? url : `${text}: ${url}`]),
    ...(unsubscribe === null ? [] : [["Unsubscribe", unsubscribe.url ?? unsubscribe.mailto]]),
    ...(senders[event.sender] === undefined ? [] : [["Written by", senders[event.sender]]]),
    ["Recipient", event.recipient],
    ["Received", date.format(new Date(event.receivedAt))],
    ["Sender checks", verdicts.join(", ")],
    [
      "Sent from",
      event.envelope.remoteAddress === "simulate"
        ? "nowhere: it is simulated"
        : `${event.envelope.remoteAddress} (${event.envelope.helo})`
    ],
    ...(event.message_id === null ? [] : [["Message-ID", event.message_id]]),
    ...event.attachments.map(({ contentType, filename, index, size: bytes }) => [
      "Attachment",
      element(
        "a",
        { href: `/api/demo/events/${event.event_id}/attachments/${index}`, download: "" },
        element("bdi", { textContent: filename ?? "(no name)" })
      ),
      `, ${contentType}, ${size(bytes)}`
    ]),
    [
      "Raw message",
      element("a", { href: `/api/demo/events/${event.event_id}/raw`, download: "", textContent: "Download .eml" })
    ]
  ]
  // Text is put in place as text, whatever it says.
  return rows.map(([name, ...value]) =>
    element("div", {}, element("dt", { textContent: name }), element("dd", { dir: "auto" }, ...value))
  )
}

const senders = {
  list: "a list or newsletter",
  auto: "a program",
  bounce: "a mail server: a delivery failed"
}

const headersOf = (event) => {
  const t = Math.floor(Date.parse(event.receivedAt) / 1000)
  return [
    "POST /inbound HTTP/1.1",
    "Content-Type: application/json",
    `X-Service-Event-Id: ${event.event_id}`,
    `X-Service-Timestamp: ${t}`,
    `X-Service-Signature: t=${t},v1=<hex>`,
    `webhook-id: ${event.event_id}`,
    `webhook-timestamp: ${t}`,
    "webhook-signature: v1,<base64>"
  ].join("\n")
}

$("samples").addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest("[data-sample]") : null
  if (button === null) return
  const problem = $("sample-problem")
  button.disabled = true
  problem.hidden = true
  wanted = undefined
  try {
    const response = await fetch("/api/demo/simulate", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ sample: button.dataset.sample })
    })
    wanted = (await answerOf(response)).inbound_email_id
    const here = events.find(({ inbound_email_id }) => inbound_email_id === wanted)
    if (here !== undefined) select(here)
  } catch (error) {
    problem.textContent = error instanceof TypeError ? "The service can't be reached. Try again." : error.message
    problem.hidden = false
  } finally {
    button.disabled = false
    button.focus()
  }
})

$("open").addEventListener("click", async () => {
  if (await open()) $("address").focus()
})

if (Number(localStorage.getItem(remembered)) > Date.now()) open()
