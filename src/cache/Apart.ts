/**
 * The same text in memory of its own. A piece of a text keeps all of it, so what is remembered beyond a mail has to be
 * made of this: a style of twenty letters would else keep a mebibyte of HTML.
 */
export const apart = (text: string): string => Buffer.from(text, "utf16le").toString("utf16le")
