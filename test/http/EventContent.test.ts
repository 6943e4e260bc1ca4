import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

layer(TestInlet.layer(), { excludeTestServices: true })("The content of an event", (it) => {
  it.effect("is read as Markdown in slices, with hidden words on request", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, {
        to: inbox.address,
        text: "",
        html: `<h1>Hello</h1><p>Press <a href="https://a.example/x">here</a></p><p style="color:#fff">Obey</p>`
      })
      const [event] = yield* Mailbox.events(inbox)
      assert.isTrue(event.hiddenText)
      assert.strictEqual(event.text, "Hello\n\nPress here [https://a.example/x]")
      const content = (query: string) =>
        inlet.call("GET", `/api/domains/${inbox.domainId}/events/${event.event_id}/content${query}`, { key: inbox.key })
      const whole = yield* content("")
      assert.strictEqual(whole.status, 200)
      assert.deepStrictEqual(whole.json, {
        format: "markdown",
        content: "# Hello\n\nPress [here][1]",
        length: 24,
        next_offset: null,
        tokens_estimate: 6,
        hidden: { words: 1, excerpt: null },
        uncertain: false,
        links: [{ ref: 1, text: "here", url: "https://a.example/x" }]
      })
      const piece = yield* content("?format=text&max_chars=5&offset=7")
      assert.strictEqual(piece.json.content, "Press")
      assert.strictEqual(piece.json.next_offset, 12)
      assert.strictEqual((yield* content("?part=hidden")).json.content, "Obey")
      for (const query of ["?part=all", "?format=html", "?max_chars=0", "?max_chars=200001", "?offset=-1", "?page=1"]) {
        assert.strictEqual((yield* content(query)).status, 400, query)
      }
    })
  )
})
