import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkHeaders } from '../../src/delivery/webhooks/management/rules-headers.ts'
import { type AttemptOutcome, afterAttempt, isGone, retryWaits } from '../../src/delivery/webhooks/rules.ts'
import {
  type Breaker,
  breakerAfter,
  closedBreaker,
  type Health,
  healthAfter,
  healthy,
  shouldDisable,
} from '../../src/delivery/webhooks/rules-health.ts'
import { failureOfCode, failureOfStatus, failures, retryAfterMs } from '../../src/platform/outbound/outcome.ts'
import { DAY, HOUR, later, MINUTE, SECOND } from '../../src/platform/time.ts'

const start = '2026-03-01T12:00:00.000Z'
const plus = (ms: number) => later(start, Math.round(ms))

const delivered: AttemptOutcome = { ok: true, status: 200, error: null, retry_after_ms: null }
const respondedWith = (status: number, retry_after_ms: number | null = null): AttemptOutcome => ({
  ok: false,
  status,
  error: failureOfStatus(status),
  retry_after_ms,
})
const dead: AttemptOutcome = { ok: false, status: null, error: 'timeout', retry_after_ms: null }
const stopped: AttemptOutcome = { ok: false, status: null, error: 'aborted', retry_after_ms: null }

describe('after an attempt', () => {
  const next = (attempts: number, outcome: AttemptOutcome, random = 0) => afterAttempt({ attempts, outcome, at: start, random })

  test('a success delivers the message', () => {
    for (const attempts of [1, 4, 8]) expect(next(attempts, delivered)).toEqual({ state: 'delivered' })
  })

  test.each([
    [1, 5 * SECOND],
    [2, 5 * MINUTE],
    [3, 30 * MINUTE],
    [4, 2 * HOUR],
    [5, 5 * HOUR],
    [6, 10 * HOUR],
    [7, 10 * HOUR],
  ])('failure %i is retried after the documented wait', (attempts, wait) => {
    expect(next(attempts, dead)).toEqual({ state: 'waiting', due_at: plus(wait) })
    expect(next(attempts, dead, 1)).toEqual({ state: 'waiting', due_at: plus(wait * 1.1) })
  })

  test('the eighth failure exhausts the message', () => {
    expect(next(8, respondedWith(500))).toEqual({ state: 'exhausted' })
    expect(retryWaits.reduce((sum, wait) => sum + wait, 0)).toBe(27 * HOUR + 35 * MINUTE + 5 * SECOND)
  })

  test.each([
    ['shorter than the wait', 2, 4 * MINUTE, 5 * MINUTE],
    ['longer than the wait', 2, 7 * MINUTE, 7 * MINUTE],
    ['twice as long', 2, 10 * MINUTE, 10 * MINUTE],
    ['more than twice as long', 2, 3 * HOUR, 10 * MINUTE],
    ['zero', 1, 0, 5 * SECOND],
  ])('Retry-After %s', (_, attempts, asked, wait) => {
    expect(next(attempts, respondedWith(503, asked))).toEqual({ state: 'waiting', due_at: plus(wait) })
  })

  test('an endpoint can have its own retry schedule', () => {
    const own = { outcome: dead, at: start, random: 0, schedule: [1 * SECOND] }
    expect(afterAttempt({ ...own, attempts: 1 })).toEqual({ state: 'waiting', due_at: plus(SECOND) })
    expect(afterAttempt({ ...own, attempts: 2 })).toEqual({ state: 'exhausted' })
  })

  test('jitter and Retry-After lengthen a wait and never shorten it', () => {
    const cases = fc.tuple(fc.integer({ min: 1, max: 7 }), fc.double({ min: 0, max: 1, noNaN: true }), fc.option(fc.nat(30 * DAY)))
    fc.assert(
      fc.property(cases, ([attempts, random, asked]) => {
        const wait = retryWaits[attempts - 1] as number
        const { due_at } = next(attempts, respondedWith(429, asked), random) as { due_at: string }
        const waited = Date.parse(due_at) - Date.parse(start)
        expect(waited).toBeGreaterThanOrEqual(Math.max(wait, Math.min(asked ?? 0, 2 * wait)))
        expect(waited).toBeLessThanOrEqual(2 * wait * 1.1)
      }),
    )
  })

  test('only 410 means that the endpoint is gone', () => {
    expect([respondedWith(410), respondedWith(404), respondedWith(400), delivered, dead].map(isGone)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
    expect(next(1, respondedWith(410))).toEqual({ state: 'waiting', due_at: plus(5 * SECOND) })
  })
})

describe('circuit breaker', () => {
  /** The state after outcomes that arrive one second apart. */
  const run = (outcomes: AttemptOutcome[], from: Breaker = closedBreaker) =>
    outcomes.reduce((state, outcome, i) => breakerAfter(state, { outcome, probed: null }, plus(i * SECOND)), from)
  const open = run(Array(5).fill(dead))
  /** The first message after the pause. */
  const probe = (state: Breaker, outcome: AttemptOutcome, at: string) => breakerAfter(state, { outcome, probed: state.paused_until }, at)

  test('opens after five consecutive failures', () => {
    expect(run(Array(4).fill(dead)).paused_until).toBe(null)
    expect(run([dead, dead, dead, dead, delivered, dead]).paused_until).toBe(null)
    expect(open.paused_until).toBe(plus(4 * SECOND + 15 * SECOND))
  })

  test.each<[string, AttemptOutcome, boolean]>([
    ['500', respondedWith(500), true],
    ['503', respondedWith(503), true],
    ['429', respondedWith(429), true],
    ['408', respondedWith(408), true],
    ['a redirect', respondedWith(302), true],
    ['a timeout', dead, true],
    ['400, which concerns one message', respondedWith(400), false],
    ['404', respondedWith(404), false],
    ['422', respondedWith(422), false],
    ['an attempt aborted by shutdown', stopped, false],
  ])('%s', (_, outcome, opens) => {
    expect(run(Array(5).fill(outcome)).paused_until !== null).toBe(opens)
  })

  test('is neither extended nor closed by attempts in flight when it opened', () => {
    expect(run(Array(50).fill(dead), open)).toEqual(open)
    expect(run([delivered, respondedWith(400)], open)).toEqual(open)
  })

  test('closes after a successful probe', () => {
    expect(probe(open, delivered, plus(20_000))).toEqual(closedBreaker)
  })

  test('doubles the pause up to five minutes while probes fail', () => {
    let state = open
    const seen: number[] = []
    for (let i = 0; i < 6; i++) {
      const at = state.paused_until as string
      state = probe(state, dead, at)
      seen.push((Date.parse(state.paused_until as string) - Date.parse(at)) / SECOND)
    }
    expect(seen).toEqual([30, 60, 120, 300, 300, 300])
  })

  test('pauses for the Retry-After of one response, up to five minutes', () => {
    expect(run([respondedWith(429, 2 * SECOND)]).paused_until).toBe(plus(2 * SECOND))
    expect(run([respondedWith(503, HOUR)]).paused_until).toBe(plus(5 * MINUTE))
    expect(run([respondedWith(500, 2 * SECOND)]).paused_until).toBe(null)
  })

  test('ignores aborted attempts', () => {
    const failing = run([dead, dead])
    expect(breakerAfter(failing, { outcome: stopped, probed: null }, start)).toEqual(failing)
    expect(breakerAfter(open, { outcome: stopped, probed: null }, start)).toEqual(open)
  })
})

describe('disabling a failing endpoint', () => {
  const hours = (...list: number[]) => list.reduce((health: Health, hour) => healthAfter(health, dead, plus(hour * HOUR)), healthy)
  const started = (...list: number[]) => hours(...list).clock_started_at

  test.each([
    ['one failure', [0], null],
    ['failures within 12 hours', [0, 1, 5, 11.9], null],
    ['two failures 12 hours apart', [0, 12], 12],
    ['two failures 24 hours apart', [0, 24], 24],
    ['two failures more than 24 hours apart', [0, 25], null],
    ['the second and third of three failures', [0, 10, 25], 25],
    ['the last two of many failures', [0, 1, 2, 3, 26], 26],
    ['a new series after a day without failures', [0, 1, 40, 53], 53],
    ['the first qualifying pair', [0, 13, 20, 30], 13],
  ])('after %s, at hours %j, the clock starts at hour %j', (_, list, hour) => {
    expect(started(...list)).toBe(hour === null ? null : plus(hour * HOUR))
  })

  test('disables at the first failure five days after the clock started', () => {
    const health = hours(0, 12)
    const end = 12 * HOUR + 5 * DAY
    expect(shouldDisable(health, dead, plus(end - 1))).toBe(false)
    expect(shouldDisable(health, dead, plus(end))).toBe(true)
    expect(shouldDisable(health, delivered, plus(end))).toBe(false)
  })

  test('resets after one success', () => {
    const recovered = healthAfter(hours(0, 12, 100), delivered, plus(101 * HOUR))
    expect(recovered).toEqual(healthy)
    expect(shouldDisable(healthAfter(recovered, dead, plus(140 * HOUR)), dead, plus(140 * HOUR))).toBe(false)
  })

  test('ignores attempts aborted by shutdown', () => {
    const health = hours(0)
    expect(healthAfter(health, stopped, plus(12 * HOUR))).toEqual(health)
  })

  test('disables immediately on 410', () => {
    expect(shouldDisable(healthAfter(healthy, respondedWith(410), start), respondedWith(410), start)).toBe(true)
  })

  test('starts the clock exactly if two failures are 12 to 24 hours apart', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30), { minLength: 1, maxLength: 12 }), (gaps) => {
        const list = gaps.map((_, i) => gaps.slice(0, i + 1).reduce((sum, gap) => sum + gap, 0))
        const pair = list.some((a) => list.some((b) => b - a >= 12 && b - a <= 24))
        expect(started(...list) !== null).toBe(pair)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('outcome names', () => {
  test.each([
    ['ECONNREFUSED', 'refused'],
    ['ECONNRESET', 'reset'],
    ['UND_ERR_SOCKET', 'reset'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['EHOSTUNREACH', 'unreachable'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    ['HPE_INVALID_CONSTANT', 'bad_response'],
    ['UND_ERR_INVALID_ARG', 'bad_header'],
    ['EMFILE', 'failed'],
    ['', 'failed'],
  ])('classifies %s as %s', (code, name) => {
    expect(failureOfCode(code)).toBe(name)
    expect(failures).toHaveProperty(name)
  })

  test.each([
    [undefined, null],
    ['', null],
    ['0', 0],
    ['120', 120_000],
    ['999999999999', 7 * DAY],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['2027', 2_027_000],
    ['Sun, 01 Mar 2026 12:01:00 GMT', MINUTE],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['Sun, 99 Mar 2026 12:01:00 GMT', null],
    ['2026-03-01T12:01:00Z', null],
  ])('parses Retry-After: %s', (text, ms) => {
    expect(retryAfterMs(text, start)).toBe(ms)
  })
})

describe('custom headers', () => {
  const secret = 'hunter2-hunter2'
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, secret]))

  test.each<Record<string, string>[]>([
    [{}],
    [{ Authorization: `Bearer ${secret}`, 'X-My-Token': 'a b\tc', 'user-agent': 'Mine/2', 'x-empty': '' }],
    [many(50)],
    [{ 'x-long': 'x'.repeat(4096), ['x'.repeat(128)]: '' }],
    [{ hosts: 'a', 'x-webhook-id': 'b' }],
  ])('accepts %j', (headers) => {
    expect(() => checkHeaders(headers)).not.toThrow()
  })

  test.each<Record<string, string>[]>([
    [{ Host: secret }],
    [{ 'Content-Length': '5' }],
    [{ 'Content-Type': 'text/plain' }],
    [{ 'Transfer-Encoding': 'chunked' }],
    [{ connection: 'close' }],
    [{ 'Proxy-Authorization': secret }],
    [{ 'Svix-Signature': secret }],
    [{ 'webhook-sequence': '1' }],
    [{ 'x-a': `${secret}\r\nx-b: c` }],
    [{ 'x-a': `${secret}\0` }],
    [{ 'x-a': `${secret}ä` }],
    [{ 'x-a': 'x'.repeat(4097) }],
    [{ 'x a': secret }],
    [{ '': secret }],
    [{ 'x:a': secret }],
    [{ ['x'.repeat(129)]: secret }],
    [{ 'x-a': secret, 'X-A': secret }],
    [many(51)],
  ])('rejects %j without repeating a value', (headers) => {
    const refused = expect.objectContaining({ error_type: 'WEBHOOK_HEADER_REFUSED', error_message: expect.not.stringContaining(secret) })
    expect(() => checkHeaders(headers)).toThrow(expect.objectContaining({ detail: refused }))
  })
})
