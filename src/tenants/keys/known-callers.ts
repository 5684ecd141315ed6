import { declareCache } from '../../platform/caches.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { SECOND } from '../../platform/time.ts'

/** The longest time that a change or a revocation takes to reach a process that no wake-up reached. */
export const MAX_AGE_MS = SECOND
export const MAX_KNOWN_CALLERS = 10_000

/** The caller that a team API key identifies, with what each use of the key checks and records. */
export type KeyCaller = { caller: TeamCaller; expires_at: string | null; last_used_at: string | null }

/** Reads a caller from the database. `known` is whom the key identified last: the team and the ID of a key never change. */
type Find = (known: TeamCaller | undefined) => Promise<KeyCaller>

/** The callers of team API keys, by the hash of the key. Only keys that were found are here. */
export const knownCallers = declareCache(newKnownCallers)

export function newKnownCallers() {
  const entries = new Map<string, { found: KeyCaller; readAt: number }>()
  /** What changed during each read that is under way. */
  const reads = new Set<Set<string>>()

  async function read(hash: string, now: number, find: Find) {
    const changed = new Set<string>()
    reads.add(changed)
    try {
      const found = await find(entries.get(hash)?.found.caller)
      const { team_id, org_id } = found.caller
      if (changed.has(team_id) || changed.has(org_id)) return found
      entries.set(hash, { found, readAt: now })
      if (entries.size > MAX_KNOWN_CALLERS) entries.delete(entries.keys().next().value as string)
      return found
    } catch (error) {
      entries.delete(hash)
      throw error
    } finally {
      reads.delete(changed)
    }
  }

  return {
    /** `now` is monotonic, in milliseconds. */
    async get(hash: string, now: number, find: Find) {
      const known = entries.get(hash)
      return known && now - known.readAt < MAX_AGE_MS ? known.found : read(hash, now, find)
    },
    /** Forgets the callers of a team or an organization. */
    forget(id: string) {
      for (const changed of reads) changed.add(id)
      for (const [hash, { found }] of entries) if ([found.caller.team_id, found.caller.org_id].includes(id)) entries.delete(hash)
    },
    get size() {
      return entries.size
    },
  }
}
