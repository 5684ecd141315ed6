import type { App } from '../platform/app.ts'
import type { Route } from './request.ts'

/** Drops the fields that the contract does not declare. The result of a row marked `shaped` has none. */
export function shapeResult({ checksShapes }: App, { name, row }: Pick<Route, 'name' | 'row'>, result: unknown): unknown {
  if (row.shaped && !checksShapes) return result
  const shaped = row.returns.parse(result)
  if (row.shaped && JSON.stringify(shaped) !== JSON.stringify(result))
    throw new Error(
      `The result of ${name} is not in the shape of its response. Remove \`shaped\` from the row, or the field from the result.`,
    )
  return shaped
}
