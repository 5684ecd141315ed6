import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { checkpointAudit } from '../../src/operations/audit/checkpoints.ts'
import { signedHeaders } from '../../src/platform/outbound/s3.ts'
import { HOUR } from '../../src/platform/time.ts'
import { compareCheckpoints } from '../../src/tenants/audit/checkpoints/actions.ts'
import { verifyAudit } from '../../src/tenants/audit/verification.ts'
import { assay } from '../cli/assay.ts'
import { skipUnless } from '../db/support/embedded.ts'
import { atEnd } from '../support/at-end.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { aReceiver, aWebhook } from '../support/webhooks.ts'
import { newSandboxDatabase, replica, temporaryFolder } from '../support/world.ts'

type Received = { method: string; path: string; headers: Record<string, unknown>; body: Buffer }
type Respond = (request: Received) => { status: number; body: Buffer | string }

/** A stand-in for a service outside, on this machine. */
async function standIn(respond: Respond) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const one = { method: request.method as string, path: request.url as string, headers: request.headers, body }
    received.push(one)
    const { status, body: reply } = respond(one)
    response.writeHead(status).end(reply)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => void server.close())
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const bucketAt = (url: string) => ({
  url: `${url}/harbor-audit/assay`,
  region: 'us-east-1',
  access_key_id: 'AKID',
  secret_access_key: 'secret',
  retain_days: 30,
})

async function service(env: Record<string, string> = {}) {
  const one = await replica({ database: await newSandboxDatabase(), env })
  const tenant = await one.tenant()
  const addRows = async (count: number) => {
    for (let i = 0; i < count; i++) await tenant.api.createUser({ body: { client_user_id: newUuid() } })
    await one.runJobs()
  }
  return { ...one, ...tenant, addRows }
}

/** Restores the rows and the end of the chain as they were before some work, as somebody who has only the database can. */
async function rollBack(w: Awaited<ReturnType<typeof service>>, work: () => Promise<void>) {
  await query(w.url, `create table heads as select * from audit_chains where chain_id = '${w.team_id}'`)
  await work()
  await query(w.url, 'alter table audit_log disable trigger user')
  await query(w.url, 'delete from audit_log using heads where audit_log.chain_id = heads.chain_id and audit_log.chain_seq > heads.seq')
  await query(w.url, 'update audit_chains c set seq = heads.seq, mac = heads.mac from heads where c.chain_id = heads.chain_id')
  await query(w.url, 'delete from audit_verified')
}

test('a chain that was truncated and rewritten as a whole does not match the checkpoint file', async () => {
  const file = join(temporaryFolder(), 'checkpoints.jsonl')
  const w = await service({ AUDIT_CHECKPOINT_FILE: file })
  await w.addRows(2)
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(1)
  const cli = assay(w.url)
  expect(await cli.run('audit', 'verify', '--checkpoint', file)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/2 checkpoints match\n$/),
  })

  await rollBack(w, async () => {
    w.advanceTime(HOUR)
    await w.addRows(2)
  })
  await w.addRows(3)
  expect(await verifyAudit(w.app, { full: true })).not.toHaveProperty('broken')
  expect(await cli.run('audit', 'verify', '--checkpoint', file)).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^BROKEN at row 4 of chain .*: the chain does not contain a row that was verified or in a checkpoint\n$/),
  })
})

test('a checkpoint file that was changed is rejected', async () => {
  const file = join(temporaryFolder(), 'checkpoints.jsonl')
  const w = await service({ AUDIT_CHECKPOINT_FILE: file })
  await w.addRows(2)
  writeFileSync(file, readFileSync(file, 'utf8').replace('"seq":2', '"seq":1'))
  await expect(compareCheckpoints(w.app, file)).rejects.toThrow('Line 1 of the checkpoint file was not written by this deployment')
})

test('a checkpoint has only chains that grew', async () => {
  const file = join(temporaryFolder(), 'checkpoints.jsonl')
  const w = await service({ AUDIT_CHECKPOINT_FILE: file })
  await w.addRows(2)
  await checkpointAudit(w.app)
  await w.addRows(1)
  const heads = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).checkpoint)
  expect(heads.map(({ chains, heads }) => ({ chains, heads: heads.map(({ seq }: { seq: number }) => seq) }))).toEqual([
    { chains: 2, heads: [1, 2] },
    { chains: 2, heads: [3] },
  ])
})

test('a team receives the end of its own chain, if a webhook names the event type', async () => {
  const w = await service()
  const other = await w.tenant()
  const { url } = await aReceiver()
  await aWebhook(other, { url })
  await aWebhook(w, { url, filter_types: ['audit.checkpoint'] })
  await other.api.listUsers()
  await w.addRows(2)
  await w.runJobs()
  const eventsOf = async (api: typeof w.api) => (await api.listEvents({ query: { event_type: ['audit.checkpoint'] } })).events
  const [{ data } = { data: {} }] = await eventsOf(w.api)
  expect(data).toMatchObject({ chain_id: w.team_id, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(await eventsOf(other.api)).toEqual([])

  const file = join(temporaryFolder(), 'event.json')
  writeFileSync(file, JSON.stringify({ event_type: 'audit.checkpoint', data }))
  expect(await compareCheckpoints(w.app, file)).toBe(1)
  expect(await verifyAudit(w.app)).not.toHaveProperty('broken')
})

test('a checkpoint is an object that cannot be deleted, signed for the bucket', async () => {
  const storage = await standIn(() => ({ status: 200, body: '' }))
  const bucket = bucketAt(storage.url)
  const w = await service({ AUDIT_CHECKPOINT_S3: JSON.stringify(bucket) })
  w.setTime('2026-03-01T09:30:00.000Z')
  await w.addRows(1)
  const [put] = storage.received
  expect(put?.method).toBe('PUT')
  expect(put?.path).toMatch(/^\/harbor-audit\/assay\/2026-03-01T09-30-.*\.jsonl$/)
  expect(put?.headers).toMatchObject({
    'x-amz-object-lock-mode': 'COMPLIANCE',
    'x-amz-object-lock-retain-until-date': expect.stringMatching(/^2026-03-31T09:30/),
    'x-amz-checksum-sha256': createHash('sha256')
      .update(put?.body as Buffer)
      .digest('base64'),
    authorization: expect.stringMatching(
      /^AWS4-HMAC-SHA256 Credential=AKID\/20260301\/us-east-1\/s3\/aws4_request, SignedHeaders=content-type;host;x-amz-/,
    ),
  })
  const file = join(temporaryFolder(), 'object.jsonl')
  writeFileSync(file, put?.body as Buffer)
  expect(await compareCheckpoints(w.app, file)).toBe(2)
})

test('signs a request as Amazon S3 documents it', () => {
  const bucket = {
    ...bucketAt('https://examplebucket.s3.amazonaws.com'),
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  }
  const headers = { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' }
  const url = new URL('https://examplebucket.s3.amazonaws.com/test%24file.text')
  const { authorization } = signedHeaders(
    bucket,
    { method: 'PUT', url, headers, body: 'Welcome to Amazon S3.' },
    '2013-05-24T00:00:00.000Z',
  )
  expect(authorization).toContain('Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd')
})

test('a failed anchor is retried with the same chains, and the error names the setting', async () => {
  let status = 403
  const storage = await standIn(() => ({ status, body: '' }))
  const w = await service({ AUDIT_CHECKPOINT_S3: JSON.stringify(bucketAt(storage.url)) })
  await expect(w.addRows(1)).rejects.toThrow('AUDIT_CHECKPOINT_S3: the host responded with 403')
  status = 200
  await checkpointAudit(w.app)
  const sent = storage.received.map(({ body }) => JSON.parse(body.toString()).checkpoint.heads.map(({ seq }: { seq: number }) => seq))
  expect(sent).toEqual([
    [1, 1],
    [1, 1],
  ])
})

/** A time-stamp authority made with the openssl command. */
async function authority() {
  const folder = temporaryFolder()
  const at = (name: string) => join(folder, name)
  const config = `
[req]
distinguished_name = dn
[dn]
[tsa]
extendedKeyUsage = critical,timeStamping
[tsa_config]
serial = ${at('serial')}
signer_cert = ${at('tsa.crt')}
signer_key = ${at('tsa.key')}
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
`
  writeFileSync(at('ts.cnf'), config)
  writeFileSync(at('serial'), '01')
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    'tsa.key',
    '-out',
    'tsa.crt',
    '-subj',
    '/CN=Test TSA',
    '-days',
    '2',
    '-config',
    'ts.cnf',
    '-extensions',
    'tsa',
  )
  const stamp = ({ body }: Received) => {
    writeFileSync(at('request.tsq'), body)
    openssl('ts', '-reply', '-queryfile', 'request.tsq', '-out', 'response.tsr', '-config', 'ts.cnf', '-section', 'tsa_config')
    return { status: 200, body: readFileSync(at('response.tsr')) }
  }
  const verify = (digest: string, response: Buffer) => {
    writeFileSync(at('stored.tsr'), response)
    return openssl('ts', '-verify', '-digest', digest, '-in', 'stored.tsr', '-CAfile', 'tsa.crt').toString()
  }
  return { stamp, verify }
}

function hasOpenssl() {
  try {
    return execFileSync('openssl', ['version'], { stdio: 'pipe' }).length > 0
  } catch {
    return false
  }
}

test('a checkpoint has a time-stamp that openssl verifies', async (context) => {
  skipUnless(context, hasOpenssl(), 'openssl is not installed')
  const tsa = await authority()
  const server = await standIn(tsa.stamp)
  const file = join(temporaryFolder(), 'checkpoints.jsonl')
  const w = await service({ AUDIT_CHECKPOINT_FILE: file, AUDIT_TIMESTAMP_URL: server.url })
  await w.addRows(1)
  expect(server.received[0]?.headers['content-type']).toBe('application/timestamp-query')
  const { checkpoint, timestamp } = JSON.parse(readFileSync(file, 'utf8'))
  const digest = createHash('sha256').update(`${checkpoint.at} ${checkpoint.digest} ${checkpoint.mac}`).digest('hex')
  expect(tsa.verify(digest, Buffer.from(timestamp, 'base64'))).toContain('Verification: OK')
  expect(await compareCheckpoints(w.app, file)).toBe(2)
})

test('a time-stamp of another request is rejected', async (context) => {
  skipUnless(context, hasOpenssl(), 'openssl is not installed')
  const tsa = await authority()
  let first: ReturnType<Respond> | undefined
  const server = await standIn((request) => {
    first ??= tsa.stamp(request)
    return first
  })
  const file = join(temporaryFolder(), 'checkpoints.jsonl')
  const w = await service({ AUDIT_CHECKPOINT_FILE: file, AUDIT_TIMESTAMP_URL: server.url })
  await w.addRows(1)
  await expect(w.addRows(1)).rejects.toThrow('the time-stamp is of other data')
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(1)
})
