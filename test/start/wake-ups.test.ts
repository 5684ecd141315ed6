import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inTransaction } from '../../src/platform/app.ts'
import { connectDirect } from '../../src/platform/db/open.ts'
import { newFirstRoot } from '../../src/platform/sealing/roots.ts'
import { newVault } from '../../src/platform/sealing/vault.ts'
import { sendLocal, socketFolder } from '../../src/platform/wake-ups/sockets.ts'
import type { WakeUp } from '../../src/platform/wake-ups/wake-up.ts'
import { wakeUpsAmongProcesses } from '../../src/platform/wake-ups/wake-ups.ts'
import { textKeys } from '../support/key-encryption.ts'
import { eventually, root, run } from '../support/process.ts'
import { directUrl } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { replica, temporaryFolder } from '../support/world.ts'

const { app, url } = await replica()

type Way = { folder: string | undefined; connect?: Parameters<typeof wakeUpsAmongProcesses>[0]['connect'] }

/** A process that receives wake-ups of these types. */
async function aProcess(types: WakeUp['type'][], { folder, connect }: Way) {
  const woken: string[] = []
  const receivers = Object.fromEntries(types.map((type) => [type, (id: string) => void woken.push(`${type} ${id}`)]))
  const wakeUps = wakeUpsAmongProcesses({ receivers, db: app.db, folder, connect, onError: failOnError })
  await wakeUps.listen()
  return { ...wakeUps, woken }
}

const failOnError = (error: unknown) => {
  throw error
}

/** The sockets of a new deployment. */
async function newFolder() {
  const keyEncryption = textKeys('wake-ups of one deployment 0000000')
  return socketFolder(newVault(keyEncryption, [(await newFirstRoot(keyEncryption)).root]))
}

test('a process wakes the jobs of the other processes of its deployment, and of no other', async () => {
  const [ours, theirs] = [{ folder: await newFolder() }, { folder: await newFolder() }]
  const receivers = [await aProcess(['job'], ours), await aProcess(['job'], theirs)] as const
  const senders = [await aProcess([], ours), await aProcess([], theirs)] as const
  senders[0].send({ type: 'job', id: 'dispatch orders' })
  await eventually(() => receivers[0].woken.length)
  // A wake-up of ours that the other deployment accepted would arrive before its own.
  senders[1].send({ type: 'job', id: 'pull feeds' })
  await eventually(() => receivers[1].woken.length)
  expect(receivers.map(({ woken }) => woken)).toEqual([['job dispatch orders'], ['job pull feeds']])
  await Promise.all([...senders, ...receivers].map(({ stop }) => stop()))
})

test.each(['sockets on one machine', 'notifications of the database'])('wakes the workers of other processes through %s', async (way) => {
  const isLocal = way.startsWith('sockets')
  const options = isLocal ? { folder: temporaryFolder() } : { folder: undefined, connect: () => connectDirect(directUrl(url)) }
  const [api, delivering] = [await aProcess([], options), await aProcess(['team log'], options)]
  const teams = Array.from({ length: 250 }, () => newUuid())
  const isWoken = () => new Set(delivering.woken).size === 250
  await eventually(() => {
    for (const id of teams) api.send({ type: 'team log', id })
    return isWoken()
  })
  expect(new Set(delivering.woken)).toEqual(new Set(teams.map((id) => `team log ${id}`)))
  await Promise.all([api.stop(), delivering.stop()])
})

test.each(['sockets', 'notifications'])(
  'a changed caller reaches every process through %s, and work only those that do it',
  async (way) => {
    const options = way === 'sockets' ? { folder: temporaryFolder() } : { folder: undefined, connect: () => connectDirect(directUrl(url)) }
    const [changing, serving, working] = [
      await aProcess(['caller changed'], options),
      await aProcess(['caller changed'], options),
      await aProcess(['caller changed', 'team log'], options),
    ]
    await eventually(() => {
      changing.send({ type: 'caller changed', id: 'a' })
      return serving.woken.length && working.woken.length
    })
    expect(changing.woken[0]).toBe('caller changed a')
    changing.send({ type: 'team log', id: 'b' })
    await eventually(() => working.woken.includes('team log b'))
    // It arrives after everything that was sent before.
    changing.send({ type: 'caller changed', id: 'c' })
    await eventually(() => serving.woken.includes('caller changed c') && working.woken.includes('caller changed c'))
    expect(new Set([...changing.woken, ...serving.woken])).toEqual(new Set(['caller changed a', 'caller changed c']))
    await Promise.all([changing, serving, working].map(({ stop }) => stop()))
  },
)

test('a process does its own work', async () => {
  const folder = temporaryFolder()
  const [working, other] = [await aProcess(['job', 'caller changed'], { folder }), await aProcess(['job', 'caller changed'], { folder })]
  working.send({ type: 'job', id: 'own' })
  expect(working.woken).toEqual(['job own'])
  // A job that left the process would arrive before this.
  working.send({ type: 'caller changed', id: 'a' })
  await eventually(() => other.woken.length)
  expect(other.woken).toEqual(['caller changed a'])
  await Promise.all([working.stop(), other.stop()])
})

test('a process wakes the worker of another process on the same machine', async () => {
  const folder = temporaryFolder()
  const delivering = await aProcess(['team log'], { folder })
  const code = `
    import { sendLocal } from ${JSON.stringify(join(root, 'src/platform/wake-ups/sockets.ts'))}
    const sender = sendLocal(${JSON.stringify(folder)})
    setInterval(() => ['team-1', 'team-2'].map((id) => sender.send({ type: 'team log', id })), 10)`
  const api = run([process.execPath, '--input-type=module', '--eval', code], { env: {} })
  await eventually(() => delivering.woken.length > 0)
  expect(new Set(delivering.woken)).toEqual(new Set(['team log team-1', 'team log team-2']))
  api.child.kill()
  await api.exited
  await delivering.stop()
  expect(readdirSync(folder)).toEqual([])
})

test('a socket that a killed process left behind is removed', async () => {
  const folder = temporaryFolder()
  // The process ends without closing its socket.
  const code = `require('node:net').createServer().listen(${JSON.stringify(join(folder, 'dead.sock'))}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', code])
  expect(readdirSync(folder)).toEqual(['dead.sock'])
  const sender = sendLocal(folder)
  sender.send({ type: 'job', id: 'a' })
  await eventually(() => readdirSync(folder).length === 0)
  sender.close()
})

test('a transaction wakes others after its commit, once each, and not if it fails', async () => {
  const woken: string[] = []
  const recording = { ...app, wake: (type: WakeUp['type'], id: string) => void woken.push(`${type} ${id}`) }
  await inTransaction(recording, async (app) => {
    for (const id of ['a', 'a', 'b']) app.wake('job', id)
    expect(woken).toEqual([])
  })
  const failing = inTransaction(recording, async (app) => {
    app.wake('job', 'c')
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  expect(woken).toEqual(['job a', 'job b'])
})
