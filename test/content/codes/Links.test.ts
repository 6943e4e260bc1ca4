import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as CodeScore from "../../../scripts/CodeScore.ts"
import * as Extraction from "../../../src/content/codes/Extraction.ts"
import { see } from "../../../src/content/html/SeenHtml.ts"

const extracted = (subject: string, text: string | null, html?: string) =>
  Extraction.of({
    subject,
    text,
    html: html === undefined ? [] : [see(html)],
    listUnsubscribe: undefined,
    listUnsubscribePost: undefined,
    isList: false
  })

const linksOf = (...of: Parameters<typeof extracted>) => extracted(...of).links

const labelled = readFileSync(new URL("../../fixtures/codes.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => Option.getOrThrow(CodeScore.parse(line)))

const secret = "https://acme.example/r?token=9fK2mQ7xT4vB8nL1cR6z"
const button = (url: string, text: string) =>
  `<a href="${url}" style="background:#06c;color:#fff;padding:12px 20px">${text}</a>`

describe("The links of a mail", () => {
  it.for(
    labelled.flatMap((each) =>
      typeof each.want.link === "string" ? [[`${each.lang}, ${each.subject}`, each] as const] : []
    )
  )("begin with the main link and name its purpose: %s", ([, each]) => {
    const [link] = CodeScore.find(each).links
    assert.deepStrictEqual([link?.url, link?.kind], [each.want.link, each.want.linkKind])
  })

  it("include their text and host", () => {
    assert.deepStrictEqual(linksOf("Welcome", null, `<p>Hello</p>${button(secret, "Confirm your address")}`), [
      { kind: "verify", url: secret, text: "Confirm your address", host: "acme.example", confidence: "high" }
    ])
    assert.deepStrictEqual(linksOf("Reset your password", `Follow this link:\n\n${secret}\n`), [
      { kind: "reset", url: secret, text: "Follow this link", host: "acme.example", confidence: "high" }
    ])
    const bare = linksOf("Reset your password", `Follow this link.\n\n${secret}\n`)
    assert.deepInclude(bare[0], { kind: "reset", text: "" })
  })

  it("are `low` with the address that a person sees, if that is of another site", () => {
    const shown = "https://good.example/r?token=9fK2mQ7xT4vB8nL1cR6z"
    const [link] = linksOf("Verify your email", null, `<p>Verify your email: <a href="${secret}">${shown}</a></p>`)
    assert.deepInclude(link, { url: secret, text: shown, confidence: "low" })
    const [own] = linksOf("Verify your email", null, `<p>Verify: <a href="${secret}">www.acme.example/r</a></p>`)
    assert.deepInclude(own, { url: secret, text: "", confidence: "high" })
    const tracked = secret.replace("acme", "click.acme")
    const [other] = linksOf("Verify your email", null, `<p>Verify: <a href="${tracked}">${secret}</a></p>`)
    assert.deepInclude(other, { url: tracked, text: "", confidence: "high" })
    const named = secret.replace("acme.example", "good.example@acme.example")
    const [trick] = linksOf("Verify your email", null, `<p><a href="${named}">Verify</a></p>`)
    assert.deepInclude(trick, { url: named, host: "acme.example", text: "Verify", confidence: "low" })
  })

  const withLabel = (label: string, host: string) => {
    const url = `https://${host}/verify?token=9fK2mQ7xT4vB8nL1cR6z`
    return linksOf("Verify your email", null, `<p>Verify your email: <a href="${url}">${label}</a></p>`)[0]
  }

  it.each([
    ["acme.com", "evil.example"],
    ["acme.com/verify", "evil.example"],
    ["(acme.com)", "evil.example"],
    ["Please open https://acme.com/verify now", "evil.example"],
    ["Go to www.acme.com.", "evil.example"],
    ["https://bank.co.uk/login", "evil.co.uk"],
    ["bank.co.uk", "evil.co.uk"],
    ["https://bank.github.io", "evil.github.io"],
    ["acme.com", "acme.com.evil.example"],
    ["acme.com", "evilacme.com"],
    ["bücher.de", "bucher.de"]
  ])("are `low` with a label that names another site: %s for %s", (label, host) => {
    assert.deepInclude(withLabel(label, host), { text: label, host, confidence: "low" })
  })

  it.each([
    ["acme.com", "acme.com"],
    ["ACME.com/verify", "id.acme.com"],
    ["https://id.acme.co.uk", "click.acme.co.uk"],
    ["https://www.acme.co.uk", "acme.co.uk"],
    ["Please open https://acme.com/verify now", "acme.com"],
    ["bücher.de", "xn--bcher-kva.de"],
    ["Node.js", "acme.com"],
    ["ada@bank.example", "acme.com"],
    ["Verify your Booking.com account", "acme.com"]
  ])("are `high` with a label that names their site or none: %s for %s", (label, host) => {
    assert.deepInclude(withLabel(label, host), { host, confidence: "high" })
  })

  it("are `low` in a plain text whose HTML shows a longer URL only", () => {
    const confidence = (shown: string) => linksOf("Acme", `Verify your email: ${secret}`, `<p>${shown}</p>`)
    assert.deepInclude(confidence(`See ${secret}.`)[0], { url: secret, confidence: "high" })
    for (const longer of [`${secret}9`, `${secret}/more`, `${secret}&next=a`]) {
      const links = confidence(`See ${longer}`)
      assert.deepInclude(
        links.find(({ url }) => url === secret),
        { confidence: "low" },
        longer
      )
    }
  })

  const told = (...of: Parameters<typeof extracted>) =>
    linksOf(...of).map(({ confidence, kind, text }) => [text, kind, confidence])
  const action = (path: string) => `https://acme.example${path}?token=9fK2mQ7xT4vB8nL1cR6z`

  it("are `other`, `low` and last if their label or path refuses", () => {
    const accept = action("/invite/accept")
    const decline = action("/invite/decline")
    const invited = "Ada invited you to join Acme."
    for (const [no, path] of [
      ["Decline invitation", decline],
      ["No, thanks", decline],
      ["Decline", action("/i")]
    ] as const) {
      for (const html of [
        `<p>${invited}</p>${button(path, no)} ${button(accept, "Accept")}`,
        `<p>${invited}</p><p><a href="${path}">${no}</a> <a href="${accept}">Accept</a></p>`
      ]) {
        assert.deepStrictEqual(
          told("Ada invited you", null, html),
          [
            ["Accept", "invite", "high"],
            [no, "other", "low"]
          ],
          html
        )
      }
    }
    assert.deepStrictEqual(
      told(
        "Sign-in request",
        null,
        `<p>Sign-in request</p>${button(action("/n"), "Deny")}${button(secret, "Approve")}`
      ),
      [
        ["Approve", "login", "high"],
        ["Deny", "other", "low"]
      ]
    )
    assert.deepStrictEqual(
      told("Welcome", `Verify: ${secret}\nIf you did not sign up, cancel the registration: ${action("/x")}`),
      [["Verify", "verify", "high"]]
    )
  })

  it.each([
    ["Confirm that you want to delete your account", "/delete"],
    ["Confirm", "/account/delete/confirm"],
    ["Confirm", "/account-deletion/c"],
    ["Confirm deletion", "/c"],
    ["Anmeldung ablehnen", "/c"],
    ["Refuser l'invitation", "/c"],
    ["Rechazar la invitación", "/c"],
    ["Отклонить приглашение", "/c"],
    ["拒绝邀请", "/c"],
    ["招待を辞退", "/c"]
  ])("are never `high` if they refuse in a plain text: %s %s", (label, path) => {
    for (const [, kind, confidence] of told("Your account", `${label}: ${action(path)}`)) {
      assert.deepStrictEqual([kind, confidence], ["other", "low"])
    }
  })

  it("are never `high` if the subject refuses", () => {
    assert.deepStrictEqual(told("Delete your account", null, button(action("/c"), "Confirm")), [
      ["Confirm", "other", "low"]
    ])
  })

  it("are `high` beside the word that refuses something else", () => {
    for (const [subject, label] of [
      ["Join Acme", "Accept or decline the invitation"],
      ["Join Acme", "Join the team here, or delete this email if you do not know Ada"],
      ["Join Acme", "Join the team, or your invitation will be deleted"],
      ["Join Acme", "We cancelled your old invitation. Join the team"]
    ] as const) {
      const [link] = linksOf(subject, `${label}: ${action("/j")}`)
      assert.deepInclude(link, { kind: "invite", confidence: "high" }, label)
    }
  })

  it("are marked if they contain a token or are the only button", () => {
    assert.deepStrictEqual(linksOf("News", "Read https://acme.example/blog/our-new-office and sign in soon."), [])
    const [one] = linksOf("Your report is ready", null, button("https://acme.example/report", "Open the report"))
    assert.deepStrictEqual([one?.kind, one?.url], ["other", "https://acme.example/report"])
    assert.deepStrictEqual(
      linksOf("News", null, button("https://acme.example/a", "One") + button("https://acme.example/b", "Two")),
      []
    )
  })

  it("include those with a short key or a number whose label or line states a purpose", () => {
    const short = "https://acme.example/v/Xy7Kp2Qa"
    const numbered = "https://acme.example/verify?id=12345"
    for (const [kind, url, text, html] of [
      ["verify", short, null, `<p>Welcome</p><a href="${short}">Verify your email</a>`],
      ["verify", short, null, `<p>To verify your email, click <a href="${short}">here</a>.</p>`],
      ["verify", numbered, null, `<p>Welcome</p><a href="${numbered}">Verify your email</a>`],
      ["verify", short, `Please verify your email:\n${short}\n`, undefined],
      ["login", short, `Sign in here: ${short}\n`, undefined],
      ["reset", short, null, `<p>To reset your password, click <a href="${short}">this link</a>.</p>`]
    ] as const) {
      const [link, ...others] = linksOf("Acme", text, html)
      assert.deepInclude(link, { kind, url, confidence: "high" }, text ?? html)
      assert.deepStrictEqual(others, [])
    }
    for (const text of [
      "Verify your email: https://acme.example/verify",
      "Sign in: https://acme.example/help/2025/rfc6455",
      `Your parcel is here: ${short}`,
      "To verify a signature, see https://acme.example/issues/44282"
    ]) {
      assert.deepStrictEqual(linksOf("Acme", text), [], text)
    }
  })

  it("exclude footer links, quoted and hidden links, and images without text", () => {
    const foot = `<a href="https://acme.example/unsubscribe?token=9fK2mQ7xT4vB8nL1cR6z">Unsubscribe</a>`
    const pixel = `<a href="https://acme.example/o?token=1aB2cD3eF4gH5iJ6kL7m"><img src="x" width="600" height="200"></a>`
    assert.deepStrictEqual(
      linksOf("Welcome", null, `${button(secret, "Confirm your address")}${foot}${pixel}`).map(({ url }) => url),
      [secret]
    )
    assert.deepStrictEqual(linksOf("Re: hello", `No.\n> Confirm your address: ${secret}`), [])
    assert.deepStrictEqual(
      linksOf("Re: hello", null, `<p>No.</p><blockquote>${button(secret, "Confirm")}</blockquote>`),
      []
    )
    assert.deepStrictEqual(
      linksOf("Hello", null, `<p>Hi.</p><div style="display:none">${button(secret, "Log in")}</div>`),
      []
    )
  })

  it("are limited to five of the first 500, and to 2,048 characters each", () => {
    const many = Array.from(
      { length: 700 },
      (_, at) => `Log in here: https://acme.example/login?token=aB3dE6gH9jK${at}Qx\n`
    )
    assert.strictEqual(linksOf("Log in", many.join("")).length, 5)
    assert.deepStrictEqual(linksOf("Log in", `Log in: ${secret}${"x".repeat(2_048)}`), [])
  })

  it("end before the punctuation of the sentence", () => {
    for (const text of [
      `Log in (${secret}).`,
      `Log in <${secret}>`,
      `Log in [${secret}]Or write to us`,
      `Log in: ${secret}, or not`,
      `"${secret}"`,
      `登录：${secret}。`
    ]) {
      assert.deepStrictEqual(
        linksOf("Log in", text).map(({ url }) => url),
        [secret],
        text
      )
    }
    const wiki = "https://acme.example/login_(new)?token=9fK2mQ7xT4vB8nL1cR6z"
    assert.deepStrictEqual(
      linksOf("Log in", `Log in: ${wiki}`).map(({ url }) => url),
      [wiki]
    )
  })

  const actions = (name: string) => `https://id.acme.example/realms/acme/login-actions/${name}?key=9fK2mQ7xT4vB8nL1cR6z`

  it("take their kind from the words of the mail before the path", () => {
    for (const [kind, subject, text] of [
      ["verify", "Verify email", `Click the link below to verify your email address\n\n${actions("action-token")}\n`],
      ["verify", "Подтверждение E-mail", `Чтобы подтвердить адрес, нажмите на ссылку\n\n${actions("reset")}\n`],
      ["reset", "Your account", `Reset password: ${actions("login")}`],
      ["login", "Acme", `Alternatively, sign in directly:\n\nhttps://acme.example/signin/verify?k=9fK2mQ7xT4vB8nL1cR6z`]
    ] as const) {
      assert.deepStrictEqual(
        linksOf(subject, text).map((link) => link.kind),
        [kind],
        text
      )
    }
    assert.deepStrictEqual(
      linksOf(
        "Ihr Konto",
        null,
        `<h1 style="font-size:24px">E-Mail bestätigen</h1><p>Hallo</p><p>Hier:</p><p>1</p>${button(actions("go"), "Weiter")}`
      ).map(({ kind }) => kind),
      ["verify"]
    )
  })

  it("take their kind from the last named segment of the path if the mail names none", () => {
    const kindOf = (path: string) => linksOf("Acme", `https://acme.example${path}`)[0]?.kind
    assert.strictEqual(kindOf("/login/verify-email/9fK2mQ7xT4vB8nL1cR6z"), "verify")
    assert.strictEqual(kindOf("/#/reset-password/9fK2mQ7xT4vB8nL1cR6z"), "reset")
    assert.strictEqual(kindOf("/accounts/password/reset/key/9fK2mQ7xT4vB8nL1cR6z/"), "reset")
    assert.strictEqual(kindOf("/login-actions/start?key=9fK2mQ7xT4vB8nL1cR6z&passwordset=false"), "other")
  })

  it("are not for a reset because of account settings or a changed password", () => {
    for (const path of ["/settings", "/settings/password"]) {
      const html = `<p>Was it not you? Reset your password:</p>${button(`https://acme.example${path}`, "Account settings")}`
      assert.deepStrictEqual(
        linksOf("Your password was changed", null, html).map(({ kind }) => kind),
        ["other"],
        path
      )
    }
    assert.strictEqual(
      linksOf(
        "이메일주소 변경 요청 확인 메일입니다",
        `아래 링크를 클릭하세요.\n\nhttps://acme.example/a?key=9fK2mQ7xT4vB8nL1cR6z`
      )[0]?.kind,
      "verify"
    )
  })

  it("are no footer because of a word such as contact or help", () => {
    assert.deepStrictEqual(
      linksOf("Emergency access", null, button(secret, "Accept as emergency contact")).map(({ url }) => url),
      [secret]
    )
    assert.deepStrictEqual(
      linksOf("Invitation", `Grace invited you to the contact list of Acme Support: ${secret}`).map(({ kind }) => kind),
      ["invite"]
    )
  })

  it("take no purpose from the line of another link with a secret", () => {
    const other = "https://acme.example/contact?token=1aB2cD3eF4gH5iJ6kL7m"
    assert.deepStrictEqual(
      linksOf("Your account", `Reset password: ${secret}\nContact us: ${other}`).map(({ kind, url }) => [kind, url]),
      [["reset", secret]]
    )
  })

  it("include a code to type as a parameter", () => {
    const url = "https://id.acme.example/ui/login/password/init?userID=29481729&code=QXWRTK&passwordset=false"
    assert.deepStrictEqual(
      linksOf("Your account", `Verify email: ${url}\nSettings: https://acme.example/settings`).map((link) => [
        link.kind,
        link.url
      ]),
      [["verify", url]]
    )
  })

  it("include a URL that HTML shows without a link", () => {
    assert.deepStrictEqual(
      linksOf("Acme", null, `<p>To reset your password, click on this link:</p><p>${secret}</p><hr>Acme`).map(
        (link) => [link.kind, link.url]
      ),
      [["reset", secret]]
    )
    assert.deepStrictEqual(
      linksOf("Acme", null, `<p>Verify your email: <a href="${secret}">https://acme.example/…</a></p>`).map(
        ({ url }) => url
      ),
      [secret]
    )
  })

  it("include a short key in the path of an invitation", () => {
    for (const key of ["x7k2p9qm4t", "aB3dE6gH9j", "Q8W2R7T1YZ"]) {
      const url = `https://acme.example/invite/${key}`
      assert.deepStrictEqual(
        linksOf("Join Acme", `Grace invites you.\n\n${url}\n`).map((link) => [link.kind, link.url]),
        [["invite", url]]
      )
    }
    assert.deepStrictEqual(linksOf("Join Acme", "Grace invites you.\n\nhttps://acme.example/invite/autumn2026\n"), [])
  })

  it.each([
    ["Reset password: ", "Reset password"],
    ["Passwort zurücksetzen: ", "Passwort zurücksetzen"],
    ["重置密码：", "重置密码"],
    ["パスワードを再設定：", "パスワードを再設定"],
    ["Сбросить пароль — ", "Сбросить пароль"],
    ["إعادة تعيين كلمة المرور: ", "إعادة تعيين كلمة المرور"],
    ["Someone asked for it. Reset password: ", "Reset password"]
  ])("have the text before a URL in plain text as their label: %s", (before, label) => {
    const [link] = linksOf("Acme", `${before}${secret}`)
    assert.deepStrictEqual([link?.kind, link?.text], ["reset", label])
  })
})
