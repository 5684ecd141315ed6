import type { App } from '../platform/app.ts'

export type Job = {
  name: string
  everyMs: number
  /** Does one batch of due work, and removes the subjects it was woken for. Returns true if there may be more. */
  run(app: App, subjects?: Set<string>): Promise<unknown>
}
