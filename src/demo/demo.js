// The demo page. What a mail says is put in place with textContent alone; its HTML part is a
// document of its own, in a sandboxed frame with a policy of its own.

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

// The cookie is none of a script's business, so the page itself remembers that there is one.
const remembered = "inlet-demo-until"

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" })
const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

const subjectOf = (event) => event.subject || "(no subject)"

const open = async () => {
  $("open").disabled = true
  $("problem").hidden = true
  try {
    const response = await fetch("/api/demo/inbox", { method: "POST" })
    const body = await response.json()
    if (!response.ok) throw new Error(body.error)
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
  const smtp = document.body.dataset.smtp
  const lines = [
    ...(smtp === ""
      ? []
      : [["inlet", `npm run -s inlet -- send --to ${address} --subject "Hello" --text "Can you read this?"`]]),
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
    const response = await fetch("/api/demo/events")
    if (!response.ok) return
    const { events: known } = await response.json()
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
  events = [event, ...events].sort((a, b) => (a.event_id < b.event_id ? 1 : -1))
  $("empty").hidden = true
  $("panes").hidden = false
  $("announce").textContent = `New mail from ${event.from}: ${subjectOf(event)}`
  const entry = entryOf(event)
  const at = events.indexOf(event)
  $("list").insertBefore(entry, $("list").children[at] ?? null)
  if (selected === undefined) select(event)
}

const entryOf = (event) => {
  const received = new Date(event.receivedAt)
  const button = element(
    "button",
    { type: "button" },
    element("span", { className: "entry-from", textContent: event.from || "(no sender)" }),
    element("time", { dateTime: event.receivedAt, textContent: clock.format(received) }),
    element("span", { className: "entry-subject", textContent: subjectOf(event) })
  )
  button.addEventListener("click", () => select(event, { reveal: true }))
  const item = element("li", {}, button)
  item.dataset.id = event.event_id
  return item
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
  field("from", `${event.from} → ${event.recipient}`)
  field("text", event.text || "(no text)")
  part("fields").replaceChildren(...fieldsOf(event))
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
  const rows = [
    ["Recipient", event.recipient],
    ["Received", date.format(new Date(event.receivedAt))],
    ["Sender checks", verdicts.join(", ")],
    ["Sent from", `${event.envelope.remoteAddress} (${event.envelope.helo})`],
    ...(event.message_id === null ? [] : [["Message-ID", event.message_id]]),
    ...event.attachments.map(({ contentType, filename, size: bytes }) => [
      "Attachment",
      `${filename ?? "(no name)"}, ${contentType}, ${size(bytes)}`
    ])
  ]
  return rows.map(([name, value]) =>
    element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value }))
  )
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

document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest("[data-copy]") : null
  if (button === null) return
  const source = $(button.dataset.copy)
  let said = "Copied"
  try {
    await navigator.clipboard.writeText(source.textContent)
  } catch {
    // Without https there is no clipboard: the text is selected for the keyboard.
    getSelection().selectAllChildren(source)
    said = "Selected"
  }
  button.textContent = said
  $("announce").textContent = said
  setTimeout(() => {
    button.textContent = "Copy"
  }, 1500)
})

$("open").addEventListener("click", async () => {
  if (await open()) $("address").focus()
})

if (Number(localStorage.getItem(remembered)) > Date.now()) open()
