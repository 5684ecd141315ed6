import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startPoller } from '../../src/delivery/webhooks/sending/poller.ts'
import { SECOND } from '../../src/platform/time.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** A poller with the times of its polls, in milliseconds of the fake clock. */
function setUp(poll: () => Promise<boolean> = async () => false) {
  const startedAt = performance.now()
  const times: number[] = []
  const errors: unknown[] = []
  const poller = startPoller(
    () => {
      times.push(performance.now() - startedAt)
      return poll()
    },
    (error) => errors.push(error),
  )
  poller.pollNow()
  return { poller, times, errors }
}

test('polls again while it finds work, and then only when it is called', async () => {
  let findsWork = true
  const { poller, times } = setUp(async () => findsWork)
  await vi.advanceTimersByTimeAsync(250)
  findsWork = false
  await vi.advanceTimersByTimeAsync(5 * SECOND)
  expect(times).toEqual([0, 100, 200, 300])
  await poller.pollIfIdle()
  await vi.advanceTimersByTimeAsync(5 * SECOND)
  expect(times.slice(4)).toEqual([5250])
  await poller.end()
})

test('polls less often while polls take long, but at least every five seconds', async () => {
  let tookMs = 200
  const { poller, times } = setUp(() => new Promise((done) => setTimeout(done, tookMs, true)))
  await vi.advanceTimersByTimeAsync(SECOND)
  await poller.pollIfIdle()
  await vi.advanceTimersByTimeAsync(SECOND)
  tookMs = 4000
  await vi.advanceTimersByTimeAsync(18 * SECOND)
  expect(times).toEqual([0, 2200, 11_200])
  await poller.end()
})

test('polls again at once when it is called during a poll, and polls never overlap', async () => {
  const polls: PromiseWithResolvers<boolean>[] = []
  const { poller, times } = setUp(() => {
    polls.push(Promise.withResolvers<boolean>())
    return (polls.at(-1) as PromiseWithResolvers<boolean>).promise
  })
  poller.pollNow()
  poller.pollNow()
  expect(polls).toHaveLength(1)
  polls[0]?.resolve(false)
  await vi.advanceTimersByTimeAsync(0)
  expect(polls).toHaveLength(2)
  polls[1]?.resolve(false)
  await vi.advanceTimersByTimeAsync(0)
  expect(times).toEqual([0, 0])
  await poller.end()
})

test('can be called again after a failed poll, and stops when it ends', async () => {
  const { poller, times, errors } = setUp(() => Promise.reject(new Error('the database is down')))
  await vi.advanceTimersByTimeAsync(SECOND)
  await poller.pollIfIdle()
  await vi.advanceTimersByTimeAsync(SECOND)
  expect(errors).toHaveLength(2)
  await poller.end()
  await poller.pollIfIdle()
  await vi.advanceTimersByTimeAsync(5 * SECOND)
  expect(times).toEqual([0, 1000])
})
