import { apart } from "../cache/Apart.ts"

/** Maximum characters of an address: those of RFC 5321, section 4.5.3.1.3, and some more as evidence. */
const mostOfAddress = 320

/** Maximum characters of other texts. */
const mostOfText = 255

const plain = /^[\x20-\x7e]*$/

/** One line without control and format characters, so that it is safe in a log, a terminal and PostgreSQL. */
const printable = (text: string, most: number): string =>
  apart(
    // Nearly all texts. A flood of refusals must cost little.
    text.length <= most && plain.test(text)
      ? text.trim()
      : text
          .slice(0, 4 * most)
          .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ")
          .trim()
          .slice(0, most)
          .toWellFormed()
  )

export const address = (text: string): string => printable(text, mostOfAddress)

export const text = (text: string): string => printable(text, mostOfText)

/** Hides the local part of an address from a workspace that has not proven that it holds the domain. */
export const withoutLocalPart = (address: string): string => `…${address.slice(Math.max(0, address.lastIndexOf("@")))}`
