import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Installed tools that pages use, with their paths. */
export const tools = new Map(['bash', 'curl', 'python3', 'go', 'git'].flatMap((tool) => findTool(tool)))

/** The samples need no C compiler. */
export const goSettings = { CGO_ENABLED: '0' }

export function findTool(tool: string): [string, string][] {
  const candidates = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, tool))
  const found = candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  return found ? [[tool, found]] : []
}
