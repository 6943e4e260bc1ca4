/** The part of a JSON Schema that the reference shows. */
export interface Shape {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly format?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Shape>
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: ReadonlyArray<string>
}

const formats: Readonly<Record<string, string>> = { uuid: "UUID", binary: "bytes", "date-time": "time" }

/** A type, short enough for a cell of a table. `link` and `code` have the words in the form of the page. */
export const typeOf = (
  shape: Shape,
  form: { readonly link: (name: string) => string; readonly code: (text: string) => string }
): string => {
  const inner = (part: Shape) => typeOf(part, form)
  if (shape.$ref !== undefined) return form.link(shape.$ref.slice(shape.$ref.lastIndexOf("/") + 1))
  if (shape.enum !== undefined) return shape.enum.map((value) => form.code(JSON.stringify(value))).join(", ")
  if (shape.anyOf !== undefined) return shape.anyOf.map(inner).join(" or ")
  if (shape.items !== undefined) return `array of ${inner(shape.items)}`
  if (shape.properties !== undefined) {
    return `{ ${Object.entries(shape.properties)
      .map(([key, value]) => `${key}: ${inner(value)}`)
      .join(", ")} }`
  }
  return [shape.type ?? "any"]
    .flat()
    .map((type) => (type === "string" ? (formats[shape.format ?? ""] ?? type) : type))
    .join(" or ")
}
