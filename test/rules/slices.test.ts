import { once } from 'node:events'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { discard } from '../../src/http/body/discard.ts'
import { runForShare } from '../../src/platform/shares/share.ts'
import { cutIntoSlices } from '../../src/platform/shares/slices.ts'

/** Long work that uses up its slices. */
async function useSlices(endSlice: ReturnType<typeof cutIntoSlices>, slices: number) {
  for (let used = 0; used < slices; ) {
    const pause = endSlice()
    if (!pause) continue
    used++
    await pause
  }
}

const inShareOf = <T>(owner: string, work: () => T) => runForShare({ owner, member: 'key' }, work)

test.each([
  ['the long work of one team', (owner: string) => inShareOf(owner, () => useSlices(cutIntoSlices(), 20))],
  ['a stream of one team, whose events do not know the team,', (owner: string) => useSlices(inShareOf(owner, cutIntoSlices), 20)],
])('%s does not make another team wait until it is done', async (_, workFor) => {
  let done = 0
  const harbor = Array.from({ length: 30 }, () => workFor('harbor').then(() => done++))
  await workFor('meadow')
  expect(done).toBe(0)
  await Promise.all(harbor)
  expect(done).toBe(30)
})

test('the rest of a refused body is discarded while other work goes on', async () => {
  const chunks = 20
  let arrived = 0
  const body = new Readable({
    highWaterMark: 1,
    read() {
      const until = performance.now() + 1
      while (performance.now() < until);
      this.push(arrived++ < chunks ? Buffer.alloc(1024) : null)
    },
  })
  let [turns, isOver] = [0, false]
  const takeTurns = () => {
    turns++
    if (!isOver) setImmediate(takeTurns)
  }
  discard(body)
  setImmediate(takeTurns)
  await once(body, 'end')
  isOver = true
  expect(arrived).toBe(chunks + 1)
  // A slice has one chunk, and one more if the stream has read ahead.
  expect(turns).toBeGreaterThan(chunks / 2)
})
