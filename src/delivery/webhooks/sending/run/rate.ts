import { SECOND } from '../../../../platform/time.ts'

/** Limits messages per second. It starts empty, because another worker may just have sent. `now` is in milliseconds. */
export function newRate(now: number) {
  let tokens = 0
  let at = now

  function refill(limit: number, now: number) {
    tokens = Math.min(limit, tokens + (Math.max(0, now - at) / SECOND) * limit)
    at = now
  }

  return {
    /** Takes a token if there is one. */
    take(limit: number | null, now: number) {
      if (limit === null) return true
      refill(limit, now)
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
    /** Milliseconds until the next token. */
    waitMs: (limit: number) => Math.max(1, Math.ceil(((1 - tokens) / limit) * SECOND)),
  }
}
