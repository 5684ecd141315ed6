import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { readObject, uploadStream } from '../../src/platform/outbound/s3-objects.ts'
import { placeOrder } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { s3Storage } from '../support/s3.ts'
import { newBytes } from '../support/seeded.ts'
import { emptyDatabase, world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world()
const storage = await s3Storage()
const BACKUP_S3 = JSON.stringify({ ...storage.account, endpoint: storage.endpoint })
const cli = (url = w.url, env: Record<string, string> = {}) => assay(url, { BACKUP_S3, ...env })
const file = 's3://harbor-backups/2026/night (1)+é.backup'
const path = '/harbor-backups/2026/night%20%281%29%2B%C3%A9.backup'

beforeEach(() => {
  storage.objects.clear()
  storage.requests.length = 0
})

test('a backup goes to storage encrypted, passes the check there, and is restored from there', async () => {
  await placeOrder(w.api)
  await w.runJobs()
  const written = await cli().json('backup', '--file', file)
  const bytes = storage.objects.get(path) as Buffer
  for (const word of [...Object.values(people[0]), w.team_id]) expect(bytes.includes(word)).toBe(false)
  expect(await cli().json('backup', 'check', '--file', file)).toMatchObject({ rows: written.rows, tables: written.tables })
  expect(await cli(await emptyDatabase()).json('restore', '--file', file)).toMatchObject({ rows: written.rows })
  expect(await cli().run('backup', '--file', file)).toMatchObject({ code: 1, err: expect.stringContaining('already exists') })
  expect(storage.objects.get(path)).toBe(bytes)
})

test.each<[string, Record<string, string>, string]>([
  [file, { BACKUP_S3: '' }, 'BACKUP_S3 is not set'],
  ['s3://harbor-backups', {}, 'must have a bucket and a key'],
  ['s3://harbor-backups/../other/a.backup', {}, 'must have a bucket and a key'],
  [
    file,
    { BACKUP_S3: JSON.stringify({ ...storage.account, endpoint: storage.endpoint, secret_access_key: 'a guess' }) },
    'BACKUP_S3: the storage responded with 403 (SignatureDoesNotMatch)',
  ],
])('a backup to %s with %j is refused', async (to, env, message) => {
  const { code, err } = await cli(w.url, env).run('backup', '--file', to)
  expect([code, err]).toEqual([1, expect.stringContaining(message)])
  expect(storage.objects.size).toBe(0)
})

test('a backup that does not exist cannot be restored', async () => {
  const { code, err } = await cli().run('backup', 'check', '--file', file)
  expect([code, err]).toEqual([1, expect.stringContaining('The object does not exist')])
})

describe('an object of several parts', () => {
  const MIB = 1024 * 1024
  const content = Buffer.alloc(11 * MIB, newBytes(1009))
  const object = {
    setting: 'BACKUP_S3',
    account: { ...storage.account, session_token: 'temporary' },
    url: new URL(`${storage.endpoint}${path}`),
    partBytes: 5 * MIB,
  }
  const upload = () => pipeline(Readable.from([content.subarray(0, 9 * MIB), content.subarray(9 * MIB)]), uploadStream(object))
  const unavailable = { status: 503, body: '<Error><Code>SlowDown</Code></Error>' }

  test('is written and read in parts of the same size, and requests that fail are repeated', async () => {
    storage.failures.push(unavailable)
    await upload()
    expect(storage.objects.get(path)?.equals(content)).toBe(true)
    expect(storage.requests.map((request) => request.replace(/uploadId=.*/, 'uploadId'))).toEqual([
      'POST ?uploads=',
      'POST ?uploads=',
      'PUT ?partNumber=1&uploadId',
      'PUT ?partNumber=2&uploadId',
      'PUT ?partNumber=3&uploadId',
      'POST ?uploadId',
    ])
    storage.requests.length = 0
    storage.failures.push(unavailable)
    expect((await buffer(readObject(object))).equals(content)).toBe(true)
    expect(storage.requests).toHaveLength(4)
  })

  test('does not appear if its upload fails', async () => {
    storage.failures.push({ status: 200, body: '<UploadId>lost</UploadId>' })
    await expect(upload()).rejects.toThrow('BACKUP_S3: the storage responded with 404 (NoSuchUpload)')
    const failing = Readable.from(
      (async function* () {
        yield content
        throw new Error('the database is gone')
      })(),
    )
    await expect(pipeline(failing, uploadStream(object))).rejects.toThrow('the database is gone')
    expect([storage.objects.size, storage.uploads.size]).toEqual([0, 0])
  })

  test('is not overwritten by an upload that began before it existed', async () => {
    const output = uploadStream(object)
    await upload()
    const first = storage.objects.get(path)
    await expect(pipeline(Readable.from([newBytes(10)]), output)).rejects.toThrow('already exists')
    expect(storage.objects.get(path)).toBe(first)
  })

  test('is not read further after it was replaced', async () => {
    await upload()
    const reading = readObject(object)
    await reading.next()
    storage.objects.set(path, Buffer.alloc(content.length))
    await expect(reading.next()).rejects.toThrow('BACKUP_S3: the storage responded with 412 (PreconditionFailed)')
  })
})
