import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { LONG_READ_LIMITS, newTurns, type TurnLimits } from '../../src/platform/shares/turns.ts'

const limits: TurnLimits = {
  contentionMs: 1000,
  ofProcess: 8,
  ofOwner: 4,
  longMs: 0,
  pause: 0,
  ofMember: 3,
  guaranteed: 1,
  pendingOfOwner: 50,
  waitMs: 10_000,
}

/** A process whose clock the test moves. `enter` says in which order requests start. */
function openProcess(most: TurnLimits = limits) {
  let now = 0
  const turns = newTurns(most, () => now)
  const started: string[] = []
  const enter = async (owner: string, member = 'key', name = owner) => {
    await turns.enter({ owner, member })
    started.push(name)
  }
  return {
    turns,
    started,
    enter,
    pass: (ms: number) => {
      now += ms
    },
  }
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('turns', () => {
  afterEach(() => vi.useRealTimers())

  test('a team that is alone never waits', () => {
    const { turns } = openProcess()
    const waits = Array.from({ length: 500 }, (_, i) => turns.enter({ owner: 'harbor', member: `key ${i % 3}` }))
    expect(waits.every((wait) => wait === undefined)).toBe(true)
  })

  test('a team has a few long reads at a time, also while it is alone, and another team does not wait for them', async () => {
    const { turns, started, enter } = openProcess(LONG_READ_LIMITS)
    for (let i = 0; i < 30; i++) void enter('harbor')
    await settle()
    expect(started).toHaveLength(LONG_READ_LIMITS.ofOwner)
    expect(turns.enter({ owner: 'meadow', member: 'key' })).toBeUndefined()
    turns.leave({ owner: 'harbor', member: 'key' }, 1)
    await settle()
    expect(started).toHaveLength(LONG_READ_LIMITS.ofOwner + 1)
  })

  test('a second team is served at once while a hundred requests of the first are pending', async () => {
    const { turns, started, enter, pass } = openProcess()
    void enter('meadow')
    turns.leave({ owner: 'meadow', member: 'key' }, 1)
    for (let i = 0; i < 40; i++) void enter('harbor')
    await settle()
    expect(started.filter((name) => name === 'harbor')).toHaveLength(limits.ofOwner)
    pass(10)
    void enter('meadow')
    await settle()
    expect(started.at(-1)).toBe('meadow')
  })

  test('after the others have been silent for a second, nothing is held back', async () => {
    const { turns, started, enter, pass } = openProcess()
    void enter('meadow')
    for (let i = 0; i < 20; i++) void enter('harbor')
    await settle()
    expect(turns.pending).toBe(20 - limits.ofOwner)
    pass(1000)
    turns.leave({ owner: 'harbor', member: 'key' }, 5)
    await settle()
    expect([turns.pending, started.filter((name) => name === 'harbor').length]).toEqual([0, 20])
  })

  test('the team that used less time is next, and within a team the key that used less', async () => {
    const { turns, started, enter } = openProcess({ ...limits, ofProcess: 1, ofOwner: 1, ofMember: 1, guaranteed: 0 })
    const leave = async (owner: string, member: string, ms: number) => {
      turns.leave({ owner, member }, ms)
      await settle()
    }
    void enter('harbor', 'batch')
    void enter('meadow', 'key', 'meadow 1')
    for (const n of [1, 2]) void enter('harbor', 'batch', `batch ${n}`)
    void enter('harbor', 'live', 'live 1')
    await leave('harbor', 'batch', 900)
    await leave('meadow', 'key', 10)
    await leave('harbor', 'live', 10)
    await leave('harbor', 'batch', 10)
    expect(started).toEqual(['harbor', 'meadow 1', 'live 1', 'batch 1', 'batch 2'])
  })

  test('while others are active, a team starts its next request when the one before has ended or takes long', async () => {
    const { turns, started, enter, pass } = openProcess({ ...limits, longMs: 100 })
    const meadowSends = async () => {
      void enter('meadow')
      turns.leave({ owner: 'meadow', member: 'key' }, 1)
      await settle()
      return started.filter((name) => name === 'harbor').length
    }
    await meadowSends()
    for (let i = 0; i < 5; i++) void enter('harbor')
    expect(await meadowSends()).toBe(1)
    turns.leave({ owner: 'harbor', member: 'key' }, 1)
    expect(await meadowSends()).toBe(2)
    pass(99)
    expect(await meadowSends()).toBe(2)
    pass(1)
    expect(await meadowSends()).toBe(3)
  })

  test('while others are active, a team with many pending requests pauses between two of them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const { turns, started, enter } = openProcess({ ...limits, ofOwner: 1, pause: 0.25 })
    const ofHarbor = () => started.filter((name) => name === 'harbor').length
    void enter('meadow')
    for (let i = 0; i < 20; i++) void enter('harbor')
    turns.leave({ owner: 'harbor', member: 'key' }, 8)
    vi.advanceTimersByTime(1)
    await settle()
    expect(ofHarbor()).toBe(1)
    vi.advanceTimersByTime(1)
    await settle()
    expect(ofHarbor()).toBe(2)
    for (let i = 0; i < 18; i++) {
      turns.leave({ owner: 'harbor', member: 'key' }, 8)
      vi.advanceTimersByTime(2)
    }
    await settle()
    expect([ofHarbor(), turns.pending]).toEqual([20, 0])
  })

  test('a key leaves room for the other keys of its team', async () => {
    const { started, enter } = openProcess()
    void enter('meadow')
    void enter('harbor', 'live', 'live')
    for (let i = 0; i < 5; i++) void enter('harbor', 'batch', 'batch')
    void enter('harbor', 'live', 'live')
    await settle()
    expect(started).toEqual(['meadow', 'live', 'batch', 'batch', 'batch'])
  })

  test('a team with too many pending requests is asked to slow down', async () => {
    const { turns, enter } = openProcess()
    void enter('meadow')
    for (let i = 0; i < limits.ofOwner + limits.pendingOfOwner; i++) void enter('harbor')
    await expect(turns.enter({ owner: 'harbor', member: 'key' })).rejects.toMatchObject({
      kind: 'too_many',
      detail: { error_type: 'TEAM_OVERLOADED' },
      retryAfterS: 2,
    })
    expect(turns.enter({ owner: 'summit', member: 'key' })).toBeUndefined()
  })

  test('every request starts once, and a team in contention never has more than its limit', async () => {
    const step = record({
      owner: constantFrom('harbor', 'meadow', 'summit'),
      member: constantFrom('a', 'b'),
      leaves: integer({ min: 0, max: 3 }),
    })
    const run = asyncProperty(array(step, { maxLength: 60 }), async (steps) => {
      const { turns } = openProcess()
      const running: { owner: string; member: string }[] = []
      let started = 0
      // Two teams that have just sent a request.
      for (const owner of ['x', 'y']) {
        turns.enter({ owner, member: '' })
        turns.leave({ owner, member: '' }, 1)
      }
      const leaveOne = async () => {
        const share = running.shift()
        if (share) turns.leave(share, 1)
        await settle()
      }
      for (const { leaves, ...share } of steps) {
        void Promise.resolve(turns.enter(share)).then(() => {
          started++
          running.push(share)
        })
        await settle()
        for (const owner of ['harbor', 'meadow', 'summit'])
          expect(running.filter((share) => share.owner === owner).length).toBeLessThanOrEqual(limits.ofOwner)
        for (let i = 0; i < leaves; i++) await leaveOne()
      }
      while (running.length) await leaveOne()
      expect([started, turns.pending]).toEqual([steps.length, 0])
    })
    await assert(run, { numRuns: 50 })
  })
})
