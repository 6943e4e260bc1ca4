import type { ComponentChildren } from "preact"

export interface Column<Row> {
  /** Also stands before each value where the screen is too narrow for columns. */
  readonly head: string
  /** For a column whose cells need no head: only screen readers say it. */
  readonly isHeadHidden?: boolean
  /** Numbers stand at the right. */
  readonly isAmount?: boolean
  readonly cell: (row: Row) => ComponentChildren
}

interface Props<Row> {
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  /** For many numbers: on a narrow screen it scrolls and keeps its columns. Others show a row as a list. */
  readonly scrolls?: boolean
}

/** A table. The first column names the row. */
export const Table = <Row,>({ columns, keyOf, rows, scrolls = false }: Props<Row>) => (
  <table class={scrolls ? "table scrolling" : "table"} tabIndex={scrolls ? 0 : undefined}>
    <thead>
      <tr>
        {columns.map(({ head, isAmount, isHeadHidden }) => (
          <th key={head} scope="col" class={isAmount ? "amount" : undefined}>
            {isHeadHidden ? <span class="visually-hidden">{head}</span> : head}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={keyOf(row)}>
          {columns.map(({ cell, head, isAmount, isHeadHidden }) => (
            <td key={head} class={isAmount ? "amount" : undefined} data-head={isHeadHidden ? undefined : head}>
              <div>{cell(row)}</div>
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)
