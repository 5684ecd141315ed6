import { array, assert, constantFrom, integer, oneof, property, record, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newFairQueue } from '../../src/platform/shares/fair-queue.ts'

const owners = ['harbor', 'meadow', 'summit', 'river']
const anOwner = constantFrom(...owners)
const aCost = integer({ min: 1, max: 100 })

describe('a fair queue', () => {
  test('serves each owner in the order of arrival and loses nothing', () => {
    const push = record({ push: anOwner })
    const take = record({ cost: aCost })
    const steps = property(array(oneof(push, take), { maxLength: 200 }), (steps) => {
      const queue = newFairQueue<{ owner: string; n: number }>()
      const [pushed, taken]: { owner: string; n: number }[][] = [[], []]
      const serve = (cost: number) => {
        const item = queue.take()
        if (!item) return expect(queue.size).toBe(0)
        taken?.push(item)
        return queue.charge(item.owner, cost)
      }
      for (const [n, step] of steps.entries()) {
        if ('cost' in step) serve(step.cost)
        else {
          pushed?.push({ owner: step.push, n })
          queue.push(step.push, { owner: step.push, n })
        }
      }
      while (queue.size) serve(1)
      for (const owner of owners)
        expect(taken?.filter((item) => item.owner === owner)).toEqual(pushed?.filter((item) => item.owner === owner))
    })
    assert(steps)
  })

  test('gives owners that always have pending items the same share, whatever their items cost', () => {
    const costs = tuple(...owners.map(() => aCost))
    const shares = property(costs, (costs) => {
      const queue = newFairQueue<number>()
      const used = owners.map(() => 0)
      for (const [i, owner] of owners.entries()) queue.push(owner, i)
      for (let round = 0; round < 500; round++) {
        const i = queue.take() as number
        queue.push(owners[i] as string, i)
        queue.charge(owners[i] as string, costs[i] as number)
        used[i] = (used[i] as number) + (costs[i] as number)
      }
      expect(Math.max(...used) - Math.min(...used)).toBeLessThanOrEqual(Math.max(...costs))
    })
    assert(shares)
  })

  test('does not let an owner that joins late catch up on what others have used before', () => {
    const queue = newFairQueue<string>()
    for (let i = 0; i < 200; i++) queue.push('harbor', 'harbor')
    for (let i = 0; i < 100; i++) queue.charge(queue.take() as string, 10)
    for (let i = 0; i < 100; i++) queue.push('meadow', 'meadow')
    const next = Array.from({ length: 20 }, () => {
      const owner = queue.take() as string
      queue.charge(owner, 10)
      return owner
    })
    expect(next.filter((owner) => owner === 'harbor')).toHaveLength(10)
  })

  test('passes over an owner that may not have more', () => {
    const queue = newFairQueue<string>()
    queue.push('harbor', 'first')
    queue.push('meadow', 'second')
    expect(queue.take((owner) => owner !== 'harbor')).toBe('second')
    expect(queue.take((owner) => owner !== 'harbor')).toBeUndefined()
    expect(queue.take()).toBe('first')
  })

  test('an item that is dropped makes no owner wait longer', () => {
    const queue = newFairQueue<string>()
    for (const owner of ['harbor', 'harbor', 'harbor', 'meadow']) queue.push(owner, owner)
    queue.charge('harbor', 100)
    queue.drop('harbor')
    queue.push('summit', 'summit')
    queue.charge('meadow', 50)
    expect([queue.take(), queue.take(), queue.take(), queue.size]).toEqual(['summit', 'meadow', 'harbor', 1])
  })
})
