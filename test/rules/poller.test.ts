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

test('polls less and less often while it finds nothing, but at least once a second', async () => {
  const { poller, times } = setUp()
  await vi.advanceTimersByTimeAsync(4.5 * SECOND)
  expect(times).toEqual([0, 200, 600, 1400, 2400, 3400, 4400])
  await poller.end()
})

test('polls soon again after it found work', async () => {
  let findsWork = false
  const { poller, times } = setUp(async () => findsWork)
  await vi.advanceTimersByTimeAsync(2 * SECOND)
  findsWork = true
  await vi.advanceTimersByTimeAsync(0.7 * SECOND)
  expect(times).toEqual([0, 200, 600, 1400, 2400, 2500, 2600, 2700])
  await poller.end()
})

test('polls less often while polls take long, but at least every five seconds', async () => {
  let tookMs = 200
  const { poller, times } = setUp(() => new Promise((done) => setTimeout(done, tookMs, true)))
  await vi.advanceTimersByTimeAsync(2 * SECOND)
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

test('continues after a failed poll and stops when it ends', async () => {
  const { poller, times, errors } = setUp(() => Promise.reject(new Error('the database is down')))
  await vi.advanceTimersByTimeAsync(SECOND)
  expect(errors).toHaveLength(3)
  await poller.end()
  await vi.advanceTimersByTimeAsync(5 * SECOND)
  expect(times).toEqual([0, 200, 600])
})

test('a poll that hung in a database outage delays the next one by five seconds at most', async () => {
  const hanging = Promise.withResolvers<boolean>()
  const { poller, times } = setUp(() => hanging.promise)
  await vi.advanceTimersByTimeAsync(10 * SECOND)
  hanging.reject(new Error('the connection is lost'))
  await vi.advanceTimersByTimeAsync(5 * SECOND)
  expect(times.slice(0, 2)).toEqual([0, 15 * SECOND])
  await poller.end()
})
