import { expect, test } from 'vitest'
import { receiveJobWakeUps, sendJobWakeUps } from '../../src/jobs/wake-ups.ts'

import { newFirstRoot } from '../../src/platform/sealing/roots.ts'
import { newVault } from '../../src/platform/sealing/vault.ts'
import { textKeys } from '../support/key-encryption.ts'
import { eventually } from '../support/process.ts'

const failOnError = (error: unknown) => {
  throw error
}

/** The vault of a new deployment. */
async function aVault() {
  const keyEncryption = textKeys('wake-ups of one deployment 0000000')
  return newVault(keyEncryption, [(await newFirstRoot(keyEncryption)).root])
}

test('a process wakes the jobs of the other processes of its deployment, and of no other', async () => {
  const [ours, theirs] = [await aVault(), await aVault()]
  const woken = { ours: [] as string[], theirs: [] as string[] }
  const receivers = [
    await receiveJobWakeUps(ours, (job) => woken.ours.push(job), failOnError),
    await receiveJobWakeUps(theirs, (job) => woken.theirs.push(job), failOnError),
  ]
  const senders = [sendJobWakeUps(ours), sendJobWakeUps(theirs)] as const
  senders[0].send('dispatch orders')
  await eventually(() => woken.ours.length)
  // A wake-up of ours that the other deployment accepted would arrive before its own.
  senders[1].send('deliver webhooks')
  await eventually(() => woken.theirs.length)
  expect(woken).toEqual({ ours: ['dispatch orders'], theirs: ['deliver webhooks'] })
  for (const sender of senders) sender.stop()
  await Promise.all(receivers.map((receiver) => receiver.stop()))
})
