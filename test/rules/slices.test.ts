import { expect, test } from 'vitest'
import { runForShare } from '../../src/platform/shares/share.ts'
import { cutIntoSlices } from '../../src/platform/shares/slices.ts'

/** Long work that uses up its slices. */
const workFor = (owner: string, slices: number) =>
  runForShare({ owner, member: 'key' }, async () => {
    const endSlice = cutIntoSlices()
    for (let used = 0; used < slices; ) {
      const pause = endSlice()
      if (!pause) continue
      used++
      await pause
    }
  })

test('the long work of one team does not wait until that of another is done', async () => {
  let done = 0
  const harbor = Array.from({ length: 30 }, () => workFor('harbor', 20).then(() => done++))
  await workFor('meadow', 20)
  expect(done).toBe(0)
  await Promise.all(harbor)
  expect(done).toBe(30)
})
