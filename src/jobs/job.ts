import type { App } from '../platform/app.ts'
import type { Search } from '../platform/db/due-work.ts'

export type Job = {
  name: string
  /**
   * Does one batch of due work. Returns true if there may be more. `app.signal` aborts when the process stops.
   */
  run(app: App): Promise<unknown>
} & (
  | { everyMs: number; search?: undefined }
  /** Runs when the search finds work, which is at most two seconds after it is due. */
  | { search: Search; everyMs?: undefined }
)
