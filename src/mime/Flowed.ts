/**
 * Joins the paragraphs of a text in format=flowed (RFC 3676, section 4). A line that ends in a space continues in the
 * next one of its quote depth. An empty line, a line of another depth and a signature separator end a paragraph.
 * Quote marks stay as sent.
 */
export const decode = (text: string, delSp: boolean): string => {
  const paragraphs: Array<string> = []
  /** The lines of the open paragraph. */
  let open: Array<string> = []
  let openDepth = 0
  const end = () => {
    if (open.length > 0) paragraphs.push(open.join(""))
    open = []
  }
  for (const line of text.split("\n")) {
    const depth = depthOf(line)
    const isStuffed = line.charCodeAt(depth) === blank
    const content = line.slice(isStuffed ? depth + 1 : depth)
    const isAlone = content === "" || content === "-- "
    if (isAlone || depth !== openDepth) end()
    // The space after quote marks is shown, and a stuffed space without marks is removed.
    const whole = depth === 0 ? content : line
    const next = open.length > 0 ? content : whole
    if (isAlone || !content.endsWith(" ")) {
      open.push(next)
      end()
    } else {
      openDepth = depth
      open.push(delSp ? next.slice(0, -1) : next)
    }
  }
  end()
  return paragraphs.join("\n")
}

const blank = 0x20
const mark = 0x3e

const depthOf = (line: string): number => {
  let depth = 0
  while (line.charCodeAt(depth) === mark) depth++
  return depth
}
