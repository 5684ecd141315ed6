import { array, assert, asyncProperty, boolean, constantFrom, record } from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { newContention } from '../../src/platform/shares/contention.ts'
import { LONG_READS, MAX_PENDING, newTurns, type TurnLimits } from '../../src/platform/shares/turns.ts'
import { SECOND } from '../../src/platform/time.ts'

const limits: TurnLimits = { atOnce: 4, always: false, waitMs: 10_000 }

/** A process in which several teams are active, unless the test says otherwise. `enter` says in which order requests start. */
function openProcess(most: TurnLimits = limits) {
  let isContended = true
  let now = 0
  const turns = newTurns(most, { isContended: () => isContended, now: () => now })
  const started: string[] = []
  const enter = async (owner: string, member = 'key', name = owner) => {
    await turns.enter({ owner, member })
    started.push(name)
  }
  return {
    turns,
    started,
    enter,
    setContended: (is: boolean) => {
      isContended = is
    },
    pass: (ms: number) => {
      now += ms
    },
  }
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('turns', () => {
  test('a team that is alone never waits', () => {
    const { turns, setContended } = openProcess()
    setContended(false)
    const waits = Array.from({ length: 500 }, (_, i) => turns.enter({ owner: 'harbor', member: `key ${i % 3}` }))
    expect(waits.every((wait) => wait === undefined)).toBe(true)
  })

  test('a team has a few long reads at a time, also while it is alone, and another team does not wait for them', async () => {
    const { turns, started, enter, setContended } = openProcess(LONG_READS)
    setContended(false)
    for (let i = 0; i < 30; i++) void enter('harbor')
    await settle()
    expect(started).toHaveLength(LONG_READS.atOnce)
    expect(turns.enter({ owner: 'meadow', member: 'key' })).toBeUndefined()
    turns.leave({ owner: 'harbor', member: 'key' }, 1)
    await settle()
    expect(started).toHaveLength(LONG_READS.atOnce + 1)
  })

  test('a second team is served at once while the requests of the first are pending', async () => {
    const { started, enter } = openProcess()
    for (let i = 0; i < 40; i++) void enter('harbor')
    await settle()
    expect(started).toEqual(Array.from({ length: limits.atOnce }, () => 'harbor'))
    void enter('meadow')
    await settle()
    expect(started.at(-1)).toBe('meadow')
  })

  test('when the others have been silent for long, nothing is held back', async () => {
    const { turns, started, enter, setContended } = openProcess()
    for (let i = 0; i < 20; i++) void enter('harbor')
    await settle()
    expect(turns.pending).toBe(20 - limits.atOnce)
    setContended(false)
    turns.leave({ owner: 'harbor', member: 'key' }, 5)
    await settle()
    expect([turns.pending, started.length]).toEqual([0, 20])
  })

  test('the team that used less time is next, and within a team the key that used less', async () => {
    const { turns, started, enter } = openProcess({ ...limits, atOnce: 1 })
    const leave = async (owner: string, member: string, ms: number) => {
      turns.leave({ owner, member }, ms)
      await settle()
    }
    for (const owner of ['harbor', 'meadow']) void enter(owner, 'batch')
    for (const n of [1, 2]) void enter('harbor', 'batch', `batch ${n}`)
    void enter('harbor', 'live', 'live')
    void enter('meadow', 'batch', 'meadow 1')
    await leave('harbor', 'batch', 900)
    await leave('meadow', 'batch', 10)
    await leave('harbor', 'live', 10)
    await leave('harbor', 'batch', 10)
    expect(started).toEqual(['harbor', 'meadow', 'live', 'meadow 1', 'batch 1', 'batch 2'])
  })

  test('a team with many pending requests rests between them for as long as the last one took', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      const { turns, started, enter } = openProcess({ ...limits, atOnce: 1 })
      for (let i = 0; i < 13; i++) void enter('harbor')
      const startedAfter = async (ms: number) => {
        vi.advanceTimersByTime(ms)
        await settle()
        return started.length
      }
      turns.leave({ owner: 'harbor', member: 'key' }, 8)
      expect([await startedAfter(7), await startedAfter(1)]).toEqual([1, 2])
    } finally {
      vi.useRealTimers()
    }
  })

  test('a team with too many pending requests is asked to slow down', async () => {
    const { turns, enter } = openProcess()
    for (let i = 0; i < limits.atOnce + MAX_PENDING; i++) void enter('harbor')
    await expect(turns.enter({ owner: 'harbor', member: 'key' })).rejects.toMatchObject({
      kind: 'too_many',
      detail: { error_type: 'TEAM_OVERLOADED' },
      retryAfterS: 2,
    })
    expect(turns.enter({ owner: 'summit', member: 'key' })).toBeUndefined()
  })

  test('a request that is pending for too long gets 429', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      const { turns, enter, pass } = openProcess()
      for (let i = 0; i < limits.atOnce; i++) void enter('harbor')
      const refused = expect(turns.enter({ owner: 'harbor', member: 'key' })).rejects.toMatchObject({ kind: 'too_many' })
      pass(limits.waitMs + 1)
      vi.advanceTimersByTime(SECOND)
      await refused
      expect(turns.pending).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('every request starts once, and a team in contention never has more than its limit, also if it rests', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const step = record({
      owner: constantFrom('harbor', 'harbor', 'harbor', 'meadow', 'summit'),
      member: constantFrom('a', 'b'),
      leaves: constantFrom(0, 0, 0, 1, 2),
      passes: boolean(),
    })
    let rests = 0
    const run = asyncProperty(array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const { turns } = openProcess()
      const running: { owner: string; member: string }[] = []
      const pending = new Map<string, number>()
      let started = 0
      const pass = async (ms: number) => {
        vi.advanceTimersByTime(ms)
        await settle()
      }
      const leaveOne = async () => {
        const share = running.shift()
        if (share) turns.leave(share, 5)
        await settle()
      }
      const change = (owner: string, by: number) => pending.set(owner, (pending.get(owner) ?? 0) + by)
      for (const { leaves, passes, ...share } of steps) {
        change(share.owner, 1)
        void Promise.resolve(turns.enter(share)).then(() => {
          started++
          change(share.owner, -1)
          running.push(share)
        })
        await settle()
        for (const owner of ['harbor', 'meadow', 'summit']) {
          const count = running.filter((share) => share.owner === owner).length
          expect(count).toBeLessThanOrEqual(limits.atOnce)
          if (count < limits.atOnce && pending.get(owner)) rests++
        }
        for (let i = 0; i < leaves; i++) await leaveOne()
        if (passes) await pass(5)
      }
      for (let i = 0; i < steps.length; i++) {
        await leaveOne()
        await pass(5)
      }
      expect([started, turns.pending, running]).toEqual([steps.length, 0, []])
    })
    try {
      await assert(run, { numRuns: 50 })
    } finally {
      vi.useRealTimers()
    }
    expect(rests).toBeGreaterThan(0)
  })
})

test('several teams are active until all but one have been silent for a second', () => {
  let now = 0
  const contention = newContention(SECOND, () => now)
  const seen = ['harbor', 'harbor', 'meadow', 'harbor'].map((name) => {
    contention.see(name)
    return contention.isOn()
  })
  expect(seen).toEqual([false, false, true, true])
  now += SECOND - 1
  contention.see('harbor')
  expect(contention.isOn()).toBe(true)
  now += 1
  expect(contention.isOn()).toBe(false)
})
