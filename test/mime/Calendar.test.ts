import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import ICAL from "ical.js"
import * as Mime from "../../src/mime/Mime.ts"
import { message } from "./Message.ts"

const berlin = [
  "BEGIN:VTIMEZONE",
  "TZID:W. Europe Standard Time",
  "BEGIN:STANDARD",
  "DTSTART:16010101T030000",
  "TZOFFSETFROM:+0200",
  "TZOFFSETTO:+0100",
  "RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10",
  "END:STANDARD",
  "BEGIN:DAYLIGHT",
  "DTSTART:16010101T020000",
  "TZOFFSETFROM:+0100",
  "TZOFFSETTO:+0200",
  "RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3",
  "END:DAYLIGHT",
  "END:VTIMEZONE"
]

const eastern = [
  "BEGIN:VTIMEZONE",
  "TZID:Eastern",
  "BEGIN:DAYLIGHT",
  "TZOFFSETFROM:-0500",
  "TZOFFSETTO:-0400",
  "DTSTART:20070311T020000",
  "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU",
  "END:DAYLIGHT",
  "BEGIN:STANDARD",
  "TZOFFSETFROM:-0400",
  "TZOFFSETTO:-0500",
  "DTSTART:20071104T020000",
  "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU",
  "END:STANDARD",
  "END:VTIMEZONE"
]

/** A zone that changed its offset once, by dates instead of a rule. */
const changed = [
  "BEGIN:VTIMEZONE",
  "TZID:Changed",
  "BEGIN:STANDARD",
  "DTSTART:19700101T000000",
  "TZOFFSETFROM:+0300",
  "TZOFFSETTO:+0300",
  "END:STANDARD",
  "BEGIN:STANDARD",
  "DTSTART:20250328T020000",
  "RDATE:20250328T020000",
  "TZOFFSETFROM:+0300",
  "TZOFFSETTO:+0530",
  "END:STANDARD",
  "END:VTIMEZONE"
]

const calendar = (method: string, zones: ReadonlyArray<string>, ...event: ReadonlyArray<string>) => [
  "BEGIN:VCALENDAR",
  "VERSION:2.0",
  `METHOD:${method}`,
  ...zones,
  "BEGIN:VEVENT",
  ...event,
  "END:VEVENT",
  "END:VCALENDAR"
]

/** The zone of New York, with this rule for its daylight time. */
const newYork = (daylight: string) => [
  "BEGIN:VTIMEZONE",
  "TZID:Eastern",
  "BEGIN:DAYLIGHT",
  "DTSTART:20070311T020000",
  `RRULE:${daylight}`,
  "TZOFFSETFROM:-0500",
  "TZOFFSETTO:-0400",
  "END:DAYLIGHT",
  "BEGIN:STANDARD",
  "DTSTART:20071104T020000",
  "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU",
  "TZOFFSETFROM:-0400",
  "TZOFFSETTO:-0500",
  "END:STANDARD",
  "END:VTIMEZONE"
]

const kindOf = (lines: ReadonlyArray<string>) =>
  Mime.read(
    Buffer.from(
      [
        "From: ada@sender.example",
        "Content-Type: multipart/alternative; boundary=b",
        "",
        "--b",
        "Content-Type: text/plain",
        "",
        "Words",
        "--b",
        "Content-Type: text/calendar; charset=utf-8; method=REQUEST",
        "",
        ...lines,
        "--b--",
        ""
      ].join("\r\n")
    )
  ).kind("ada@sender.example")

const calendarOf = (lines: ReadonlyArray<string>) => {
  const kind = kindOf(lines)
  if (kind.type !== "calendar") throw new Error(`a mail of kind ${kind.type}`)
  return kind
}

describe("A calendar mail", () => {
  it("has method, times and organizer of its event (RFC 5545)", () => {
    const kind = kindOf(
      calendar(
        "REQUEST",
        berlin,
        "UID:meeting-1@sender.example",
        "SEQUENCE:2",
        "SUMMARY;LANGUAGE=de:Planung\\, Teil 2 \\;-) mit einer",
        "  Zeile mehr",
        'ORGANIZER;CN="Lovelace, Ada":MAILTO:ada@sender.example',
        "LOCATION:Room 7\\nBerlin",
        "DTSTART;TZID=W. Europe Standard Time:20260301T100000",
        "DTEND;TZID=W. Europe Standard Time:20260301T113000",
        "RRULE:FREQ=WEEKLY;COUNT=4",
        "BEGIN:VALARM",
        "DESCRIPTION:Reminder",
        "END:VALARM"
      )
    )
    const zone = "W. Europe Standard Time"
    assert.deepStrictEqual(kind, {
      type: "calendar",
      method: "request",
      uid: "meeting-1@sender.example",
      sequence: 2,
      summary: "Planung, Teil 2 ;-) mit einer Zeile mehr",
      location: "Room 7 Berlin",
      start: { local: "2026-03-01T10:00:00", zone, utc: "2026-03-01T09:00:00Z" },
      end: { local: "2026-03-01T11:30:00", zone, utc: "2026-03-01T10:30:00Z" },
      recurrence: "FREQ=WEEKLY;COUNT=4",
      organizer: { name: "Lovelace, Ada", address: "ada@sender.example" },
      reply: null,
      attachment: 0
    })
  })

  it.for([
    ["DTSTART:20260301T100000Z", { local: "2026-03-01T10:00:00", zone: "UTC", utc: "2026-03-01T10:00:00Z" }],
    ["DTSTART;VALUE=DATE:20260301", { local: "2026-03-01", zone: null, utc: null }],
    ["DTSTART:20260301T100000", { local: "2026-03-01T10:00:00", zone: null, utc: null }],
    [
      "DTSTART;TZID=America/New_York:20260701T100000",
      { local: "2026-07-01T10:00:00", zone: "America/New_York", utc: "2026-07-01T14:00:00Z" }
    ],
    ["DTSTART;TZID=Mars/Base:20260701T100000", { local: "2026-07-01T10:00:00", zone: "Mars/Base", utc: null }]
  ] as const)("with %s begins at %j", ([line, start]) => {
    assert.deepStrictEqual(calendarOf(calendar("REQUEST", [], line)).start, start)
  })

  it.for(["DTSTART:20260231T100000Z", "DTSTART:2026", "DTSTART:20260301T250000Z", "DTSTART;X=:", "DTSTART"])(
    "with %s has no start",
    (line) => {
      assert.isNull(calendarOf(calendar("REQUEST", [], line)).start)
    }
  )

  it("ends after its duration if it has no end", () => {
    const { end } = calendarOf(calendar("REQUEST", [], "DTSTART:20260228T233000Z", "DURATION:P1DT1H30M"))
    assert.strictEqual(end?.utc, "2026-03-02T01:00:00Z")
  })

  it("ends after its exact hours and its days of the zone, also across a change of the clocks", () => {
    const endOf = (...lines: ReadonlyArray<string>) => calendarOf(calendar("REQUEST", [], ...lines)).end
    const start = "DTSTART;TZID=America/New_York:20260308T013000"
    assert.deepStrictEqual(endOf(start, "DURATION:PT2H"), {
      local: "2026-03-08T04:30:00",
      zone: "America/New_York",
      utc: "2026-03-08T08:30:00Z"
    })
    assert.strictEqual(endOf(start, "DURATION:P1D")?.utc, "2026-03-09T05:30:00Z")
  })

  it.for([
    ["DAYLIGHT", "FREQ=YEARLY;BYMONTH=3;BYDAY=2SU"],
    ["DAYLIGHT", "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=8,9,10,11,12,13,14;BYDAY=SU"],
    ["DAYLIGHT", "FREQ=YEARLY;BYMONTH=3;BYDAY=SU;BYSETPOS=2"],
    ["DAYLIGHT", "FREQ=YEARLY;BYDAY=2SU"],
    ["DAYLIGHT", "FREQ=YEARLY;INTERVAL=1;BYMONTH=3;BYMONTHDAY=8;WKST=SU"]
  ] as const)("has the times of a zone whose %s begins by %s", ([, rule]) => {
    const utcOf = (local: string) =>
      calendarOf(calendar("REQUEST", newYork(rule), `DTSTART;TZID=Eastern:${local}`)).start?.utc
    assert.deepStrictEqual(
      [
        "20260201T100000",
        "20260308T013000",
        "20260308T030000",
        "20260715T100000",
        "20261101T013000",
        "20261115T100000"
      ].map(utcOf),
      [
        "2026-02-01T15:00:00Z",
        "2026-03-08T06:30:00Z",
        "2026-03-08T07:00:00Z",
        "2026-07-15T14:00:00Z",
        "2026-11-01T05:30:00Z",
        "2026-11-15T15:00:00Z"
      ]
    )
    // The clocks skip this time, so the offset before it counts.
    assert.strictEqual(utcOf("20260308T023000"), "2026-03-08T07:30:00Z")
  })

  it("has no time in UTC for a zone with another rule, unless the zone has an IANA name", () => {
    const utcOf = (zone: string) =>
      calendarOf(
        calendar(
          "REQUEST",
          newYork("FREQ=MONTHLY;INTERVAL=12;BYDAY=2SU").map((line) => line.replace("Eastern", zone)),
          `DTSTART;TZID=${zone}:20260715T100000`
        )
      ).start?.utc
    assert.isNull(utcOf("Eastern"))
    assert.strictEqual(utcOf("America/New_York"), "2026-07-15T14:00:00Z")
  })

  it("has the first of two times, and the offset before a skipped one, in a zone with an IANA name", () => {
    const utcOf = (local: string) =>
      calendarOf(calendar("REQUEST", [], `DTSTART;TZID=America/New_York:${local}`)).start?.utc
    assert.deepStrictEqual(["20260308T023000", "20260308T033000", "20261101T013000", "20261101T023000"].map(utcOf), [
      "2026-03-08T07:30:00Z",
      "2026-03-08T07:30:00Z",
      "2026-11-01T05:30:00Z",
      "2026-11-01T07:30:00Z"
    ])
  })

  it("has the characters that a fold divides", () => {
    const lines = calendar("REQUEST", [], "UID:1", "SUMMARY:Grüße")
    const bytes = Buffer.from(lines.join("\r\n"))
    const at = bytes.indexOf("ü") + 1
    const folded = Buffer.concat([bytes.subarray(0, at), Buffer.from("\r\n "), bytes.subarray(at)])
    const mail = Buffer.concat([Buffer.from("Content-Type: text/calendar\r\n\r\n"), folded])
    assert.deepInclude(Mime.read(mail).kind("ada@sender.example"), { summary: "Grüße" })
  })

  it("of an attendee says what the attendee replies", () => {
    const { method, reply } = calendarOf(
      calendar("REPLY", [], "UID:1", "ATTENDEE;PARTSTAT=DECLINED;CN=Bob:mailto:bob@example.org")
    )
    assert.deepStrictEqual([method, reply], ["reply", "declined"])
  })

  it("without a method is the mail of a person", () => {
    assert.deepStrictEqual(kindOf(["BEGIN:VCALENDAR", "BEGIN:VEVENT", "END:VEVENT", "END:VCALENDAR"]), {
      type: "person"
    })
  })

  it("that is damaged or hostile has what can be read, at a cost that follows its size", () => {
    for (const hostile of [
      Array.from({ length: 9_000 }, () => "BEGIN:VEVENT"),
      [`X${";A=B".repeat(15_000)}:x`],
      [`X${';A="'.repeat(15_000)}:x`],
      [`DTSTART${";TZID=".repeat(9_000)}:20260301T100000`],
      Array.from({ length: 9_000 }, () => " a")
    ])
      assert.strictEqual(calendarOf(["BEGIN:VCALENDAR", "METHOD:REQUEST", "X-A:b", ...hostile]).method, "request")
  })
})

describe("The text of a calendar", () => {
  it.for([
    ["iso-8859-1", "R\xe9union", "Réunion"],
    ["koi8-r", "\xf7\xd3\xd4\xd2\xc5\xde\xc1", "Встреча"],
    ["utf-8", "R\xe9union", "Réunion"],
    ["utf-8", "R\xc3\r\n \xa9union", "Réunion"]
  ] as const)("is decoded in the charset of its part, or the one that fits, with %s: %j", ([charset, raw, summary]) => {
    const lines = calendar("REQUEST", [], `SUMMARY:${raw}`)
    const type = `Content-Type: text/calendar; method=REQUEST; charset=${charset}`
    assert.include(Mime.read(message(type, "", ...lines)).kind("ada@sender.example"), { summary })
  })
})

describe("The time in UTC", () => {
  it.for([
    ["W. Europe Standard Time", berlin],
    ["Eastern", eastern],
    ["Changed", changed]
  ] as const)("of a day and hour of 2025 and 2026 in the zone %s is that of ical.js", ([zone, lines]) => {
    const times = Array.from({ length: 730 }, (_, day) => {
      const date = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(Date.UTC(2025, 0, 1 + day))).replaceAll("-", "")
      return { date, hour: `${(day * 7) % 24}`.padStart(2, "0") }
      // Of the hours that a change of daylight time skips or repeats, programs choose differently.
    }).filter(({ hour }) => !["01", "02"].includes(hour))
    const lineOf = ({ date, hour }: (typeof times)[number]) => `DTSTART;TZID=${zone}:${date}T${hour}3000`
    const all = times.flatMap((time) => ["END:VEVENT", "BEGIN:VEVENT", lineOf(time)])
    const [, ...events] = new ICAL.Component(
      ICAL.parse(calendar("REQUEST", lines, ...all).join("\r\n"))
    ).getAllSubcomponents("vevent")
    assert.strictEqual(events.length, times.length)
    for (const [index, time] of times.entries()) {
      const parsed = events[index]?.getFirstPropertyValue("dtstart")
      const expected = parsed instanceof ICAL.Time ? parsed.toJSDate().toISOString() : undefined
      const { start } = calendarOf(calendar("REQUEST", lines, lineOf(time)))
      assert.strictEqual(start?.utc, `${expected?.slice(0, 19)}Z`, lineOf(time))
    }
  })
})
