import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The tools that pages use and this machine has, with their places. */
export const tools = new Map(['bash', 'curl', 'python3', 'go', 'git'].flatMap((tool) => placeOf(tool)))

export function placeOf(tool: string): [string, string][] {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, tool))
  const place = places.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  return place ? [[tool, place]] : []
}
