import { expect, test } from 'vitest'
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
