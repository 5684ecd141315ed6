import { once } from 'node:events'
import { threadId, Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { acknowledgeBreak } from '../../src/tenants/audit/breaks.ts'
import { auditKeys } from '../../src/tenants/audit/key.ts'
import { DEPLOYMENT_CHAIN } from '../../src/tenants/audit/rules.ts'
import { verifyAudit } from '../../src/tenants/audit/verification.ts'
import { auditRows } from '../support/audit.ts'
import { holdLock } from '../support/hold-lock.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { readMetrics } from '../support/metrics.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { citusServers, newSandboxDatabase, readWorkerLog, replica } from '../support/world.ts'

const shared = await replica()

/** A service with a database of its own, for attacks on more than the chain of one team. */
const ownService = async () => replica({ database: await newSandboxDatabase() })

/**
 * A team with a chain of four rows, and an attacker with the service's own database role. In the shared service, only the chains
 * of the deployment, the organization and the team are verified.
 */
async function attacked(one = shared) {
  const tenant = await one.tenant()
  const { api, org_id, team_id } = tenant
  const attack = async (...statements: string[]) => {
    for (const statement of statements) {
      const text = `${statement.replaceAll('CHAIN', `chain_id = '${team_id}'`)} /* any team: a test */`
      // In a cluster, the same role first has to allow itself to change triggers.
      await (citusServers().length ? query(one.url, text) : sql.raw(text).execute(one.app.db))
    }
  }
  const addRows = async (count: number) => {
    for (let i = 0; i < count; i++) await api.createUser({ body: { client_user_id: newUuid() } })
  }
  const rows = async () => {
    const query = one.app.db.selectFrom('audit_log').selectAll().where('chain_id', '=', team_id)
    return query.orderBy('chain_seq').execute()
  }
  await addRows(4)
  await one.runJobs()
  await attack('alter table audit_log disable trigger user', 'alter table audit_outbox disable trigger user')
  const chain_ids = one === shared ? [org_id, team_id] : undefined
  const verify = ({ full = true } = {}) => verifyAudit(one.app, { full, chain_ids })
  return { ...one, ...tenant, attack, addRows, rows, verify }
}

const ERROR = 50

/** What the services of this file have logged about a chain. */
const linesAbout = (chain_id: string) =>
  readWorkerLog()
    .split('\n')
    .filter((line) => line.includes(`"chain_id":"${chain_id}"`))
    .map((line) => JSON.parse(line))

const REWRITTEN = 'the chain does not contain a row that was verified or in a checkpoint'

type Attacked = Awaited<ReturnType<typeof attacked>>

/** The service goes on: requests succeed, and their rows are chained. */
async function expectServed(w: Attacked) {
  const known = new Set((await query(w.url, `select id from ${auditRows} where chain_id = $1`, [w.team_id])).map(({ id }) => id))
  await w.addRows(2)
  await w.runJobs()
  const added = (await w.rows()).filter(({ id, action }) => !known.has(id) && action === 'createUser')
  expect(added.map(({ chain_seq }) => chain_seq)).toEqual([expect.any(Number), expect.any(Number)])
}

const newRow = (team_id: string, action = 'forged', mac = "''") =>
  `insert into audit_outbox (chain_id, id, at, team_id, actor_kind, action, status, mac)
   select '${team_id}', gen_random_uuid(), now(), '${team_id}', 'team_key', '${action}', 200, ${mac}`

test('a changed row is found, and the chain goes on', async () => {
  const w = await attacked()
  await w.attack("update audit_log set subject = 'user_id:nobody' where CHAIN and chain_seq = 2")
  await expectServed(w)
  expect((await w.verify()).breaks).toMatchObject([{ seq: 2, to: 2, reason: 'the row was changed' }])
})

test('a change of an old row alerts without a verification by an operator, also in the middle of a long chain', async () => {
  const w = await attacked(await ownService())
  await w.addRows(8)
  await w.runJobs()
  await verifyAudit(w.app)
  await w.attack("update audit_log set subject = 'user_id:nobody' where CHAIN and chain_seq = 2")
  const alerts = async () => {
    for (let i = 0; i < 2; i++) await w.runJobs()
    const { events } = await w.api.listEvents({ query: { event_type: ['audit.broken'] } })
    return events.map(({ data }) => data as { seq: number }).toSorted((a, b) => a.seq - b.seq)
  }
  expect(await alerts()).toEqual([])
  w.advanceTime(DAY + MINUTE)
  expect(await alerts()).toMatchObject([{ chain_id: w.team_id, seq: 2, to: 2, reason: 'changed' }])

  // A review that reached row 5 continues there, and the next one starts over.
  await w.attack(
    'update audit_reviews set seq = 5 where CHAIN',
    "update audit_log set subject = 'user_id:nobody' where CHAIN and chain_seq in (4, 7)",
  )
  expect((await alerts()).map(({ seq }) => seq)).toEqual([2, 7])
  w.advanceTime(DAY + MINUTE)
  expect((await alerts()).map(({ seq }) => seq)).toEqual([2, 4, 7])
})

test.each([
  ['with an empty MAC', "''"],
  ['with a random MAC', "sha256('x')"],
  ['with the MAC of another row', '(select mac from audit_log where CHAIN and chain_seq = 1)'],
])('an inserted row %s is never signed', async (_, mac) => {
  const w = await attacked()
  await w.attack(newRow(w.team_id, 'forged', mac))
  await expectServed(w)
  const forged = (await w.rows()).find(({ action }) => action === 'forged')
  const { breaks } = await w.verify()
  expect(breaks).toMatchObject([{ id: forged?.id, seq: forged?.chain_seq, reason: 'the row was not written by Assay' }])
})

const columns = 'chain_id, id, at, org_id, team_id, actor_kind, actor_id, action, subject, status, request_id, via, reason'

test('an inserted row with the ID of a chained row is neither signed nor deleted, and is counted', async () => {
  const w = await attacked(await ownService())
  const before = await w.rows()
  await w.attack(
    `insert into audit_outbox (${columns}, mac) select ${columns.replace('action', "'forged'")}, sha256('x') from audit_log where CHAIN and chain_seq = 2`,
  )
  await expectServed(w)
  expect((await w.rows()).slice(0, 4)).toEqual(before)
  expect(await query(w.url, 'select action from audit_outbox')).toEqual([{ action: 'forged' }])
  w.advanceTime(MINUTE + 1)
  expect(await w.verify()).toMatchObject({ unchained: 1 })
})

test('a row that is inserted again after it was chained is deleted', async () => {
  const w = await attacked(await ownService())
  await w.attack('alter table audit_outbox enable trigger user')
  const before = await w.rows()
  const again = `insert into audit_outbox (${columns}, mac) select ${columns}, mac from audit_log where CHAIN and chain_seq`
  await w.attack(`${again} = 2`)
  await w.runJobs()
  expect(await w.rows()).toEqual(before)
  await w.attack(`${again} = 3`)
  await expectServed(w)
  expect(await query(w.url, 'select action from audit_outbox')).toEqual([])
  expect(await w.verify()).toMatchObject({ rows: 7, unchained: 0 })
  expect(await w.verify()).not.toHaveProperty('broken')
})

test('a row that is inserted with a place after the end of the chain is found, and the chain goes on', async () => {
  const w = await attacked()
  await w.attack(
    `insert into audit_log (chain_id, id, at, actor_kind, action, status, mac, chain_seq, chain_hash)
     select chain_id, gen_random_uuid(), at, actor_kind, action, status, mac, 5, sha256('x') from audit_log where CHAIN and chain_seq = 4`,
  )
  await expectServed(w)
  expect((await w.verify()).breaks).toContainEqual(
    expect.objectContaining({ seq: 6, reason: 'rows lie beyond the recorded end of the chain' }),
  )
})

test('a row that was changed before it is chained is never signed', async () => {
  const w = await attacked()
  await w.addRows(1)
  await w.attack('update audit_outbox set status = 403 where CHAIN')
  await expectServed(w)
  expect((await w.verify()).breaks).toMatchObject([{ seq: 5, to: 5, reason: 'the row was not written by Assay' }])
})

test('truncated rows that are inserted again, with a change, are neither signed nor accepted', async () => {
  const w = await attacked(await ownService())
  await w.attack(
    'create table copies as select * from audit_log where CHAIN',
    'truncate audit_log',
    "update copies set subject = 'user_id:nobody' where chain_seq = 2",
    'alter table copies drop column chain_seq, drop column chain_hash',
    'insert into audit_outbox select * from copies',
    "update audit_chains set seq = 0, mac = sha256('x') where CHAIN",
  )
  await expectServed(w)
  const { breaks = [] } = await w.verify()
  const changed = (await w.rows()).find(({ subject }) => subject === 'user_id:nobody')
  expect(breaks).toContainEqual(expect.objectContaining({ id: changed?.id, reason: 'the row was not written by Assay' }))
  expect(breaks).toContainEqual(expect.objectContaining({ chain_id: w.team_id, seq: 1 }))
  expect(breaks).toContainEqual(expect.objectContaining({ chain_id: DEPLOYMENT_CHAIN }))
})

test.each([
  ['rows at the end', ['delete from audit_log where CHAIN and chain_seq > 2'], { seq: 3, to: 4 }],
  ['the recorded end', ['delete from audit_chains where CHAIN'], { seq: 5, to: 5 }],
  ['both', ['delete from audit_log where CHAIN and chain_seq > 2', 'delete from audit_chains where CHAIN'], { seq: 3, to: 3 }],
  ['the whole chain', ['delete from audit_log where CHAIN', 'delete from audit_chains where CHAIN'], { seq: 1, to: 1 }],
])('after the deletion of %s, a segment records the break until it is acknowledged', async (_, statements, lost) => {
  const w = await attacked()
  await w.attack(...statements)
  await expectServed(w)
  const segment = (await w.rows()).find(({ action }) => action === 'openAuditSegment')
  expect(segment).toMatchObject({
    chain_seq: lost.to + 1,
    subject: expect.stringContaining(`seq:${lost.seq} to:${lost.to} `),
    team_id: w.team_id,
  })
  const { breaks = [] } = await w.verify()
  expect(breaks).toMatchObject([{ chain_id: w.team_id, ...lost }])

  for (const found of breaks) await acknowledgeBreak(w.app, found, 'jane')
  await w.runJobs()
  expect(await w.verify()).toMatchObject({ acknowledged: 1 })
  expect(await w.verify()).not.toHaveProperty('broken')

  // The acknowledgement covers nothing that is deleted later.
  await w.attack(`delete from audit_log where CHAIN and chain_seq = ${lost.to + 1}`)
  expect((await w.verify()).breaks).toMatchObject([{ to: lost.to + 1, reason: 'the row is missing' }])
})

test('a head that is rolled back to an earlier one is found while its rows remain', async () => {
  const w = await attacked()
  await w.attack('create table earlier_heads as select * from audit_chains where CHAIN')
  await w.addRows(2)
  await w.runJobs()
  await w.attack('update audit_chains c set seq = h.seq, mac = h.mac from earlier_heads h where c.chain_id = h.chain_id')
  await expectServed(w)
  expect((await w.verify()).breaks).toMatchObject([{ seq: 7, reason: expect.any(String) }])
})

test('an acknowledgement cannot be forged, and recorded breaks cannot be deleted', async () => {
  const w = await attacked()
  await w.attack(newRow(w.team_id))
  await w.runJobs()
  const forged = { breaks: [{ seq: 5, to: 5, reason: 'the row was not written by Assay' }] }
  expect(await w.verify({ full: false })).toMatchObject(forged)
  await w.attack("update audit_breaks set acknowledged_at = now(), acknowledged_by = 'jane', mac = sha256('x') where CHAIN")
  expect(await w.verify({ full: false })).toMatchObject(forged)
  await w.attack('delete from audit_breaks where CHAIN')
  expect(await w.verify({ full: false })).toMatchObject(forged)
})

test('a remembered verification cannot be moved forward', async () => {
  const w = await attacked()
  await w.attack("update audit_log set action = 'nothing' where CHAIN and chain_seq = 4")
  await w.attack(
    `insert into audit_verified (chain_id, seq, hash, mac)
     select chain_id, 4, chain_hash, sha256('x') from audit_log where CHAIN and chain_seq = 4
     on conflict (chain_id) do update set seq = excluded.seq, hash = excluded.hash, mac = excluded.mac`,
  )
  expect((await w.verify({ full: false })).breaks).toMatchObject([{ seq: 4, to: 4 }])
})

test('a chain that is rolled back as a whole does not contain what was verified', async () => {
  const w = await attacked()
  await w.attack('create table whole_heads as select * from audit_chains where CHAIN')
  await w.addRows(2)
  await w.runJobs()
  expect(await w.verify({ full: false })).not.toHaveProperty('broken')
  await w.attack(
    'delete from audit_log where CHAIN and chain_seq > 4',
    'update audit_chains c set seq = h.seq, mac = h.mac from whole_heads h where c.chain_id = h.chain_id',
  )
  await expectServed(w)
  expect((await w.verify({ full: false })).breaks).toMatchObject([{ seq: 6, to: 6, reason: REWRITTEN }])
  for (const found of (await w.verify({ full: false })).breaks ?? []) await acknowledgeBreak(w.app, found, 'jane')
  expect(await w.verify({ full: false })).not.toHaveProperty('broken')
})

test('a chain that is taken off the list of chains is listed again when an operator acknowledges it', async () => {
  const w = await attacked(await ownService())
  await w.attack(`delete from audit_log where chain_id = '${DEPLOYMENT_CHAIN}' and id = '${w.team_id}'`)
  await expectServed(w)
  const { breaks = [] } = await w.verify()
  expect(breaks).toMatchObject([
    { chain_id: DEPLOYMENT_CHAIN, seq: 1 },
    { chain_id: w.team_id, reason: 'the deployment does not list the chain' },
  ])
  for (const found of breaks) await acknowledgeBreak(w.app, found, 'jane')
  await w.runJobs()
  expect(await w.verify()).not.toHaveProperty('broken')
})

test('a break alerts by event, log, metric and /ready until an operator acknowledges it', async () => {
  const w = await attacked(await ownService())
  const alerts = async () => ({
    ready: ((await (await fetch(`${w.base}/ready`)).json()) as { audit_breaks: number }).audit_breaks,
    metric: (await readMetrics(w.base))('assay_audit_breaks'),
  })
  const events = async () => (await w.api.listEvents({ query: { event_type: ['audit.broken'] } })).events
  expect(await alerts()).toEqual({ ready: 0, metric: 0 })
  await w.attack('delete from audit_log where CHAIN and chain_seq = 4')
  await expectServed(w)
  await w.runJobs()
  expect(await alerts()).toEqual({ ready: 1, metric: 1 })
  expect(await events()).toMatchObject([{ user_id: null, data: { chain_id: w.team_id, seq: 4, to: 4, reason: 'missing' } }])
  expect(linesAbout(w.team_id)).toMatchObject([{ level: ERROR, msg: 'audit log broken', seq: 4, to: 4, reason: 'missing' }])

  await w.attack("update audit_breaks set acknowledged_at = now(), acknowledged_by = 'jane'")
  const { breaks = [] } = await verifyAudit(w.app)
  expect(await alerts()).toEqual({ ready: 1, metric: 1 })
  for (const found of breaks) await acknowledgeBreak(w.app, found, 'jane')
  expect(await alerts()).toEqual({ ready: 0, metric: 0 })
})

test('a verification reads the rows in a thread, while the service answers', async () => {
  const w = await attacked(await ownService())
  const threads: Worker[] = []
  const onThread = (thread: Worker) => threads.push(thread)
  process.on('worker', onThread)
  // The rows of the chain are locked against the thread, which has a connection of its own.
  const release = await holdLock(w.app, (db) => sql`lock table audit_log in access exclusive mode`.execute(db))
  const verified = w.verify()
  const waiting = await eventually(async () => (await lockWaits(w.url)).length > 0)
  const health = await fetch(`${w.base}/health`)
  await release()
  expect(await verified).not.toHaveProperty('broken')
  process.off('worker', onThread)
  expect([waiting, health.status, threads.length]).toEqual([true, 200, 1])
  expect(threads[0]?.threadId).not.toBe(threadId)
})

test('a break of an organization alerts its teams, and one of the deployment alerts no team', async () => {
  const w = await attacked(await ownService())
  await w.admin.getOrg({ params: w })
  await w.runJobs()
  await w.attack(newRow(w.org_id), newRow(DEPLOYMENT_CHAIN))
  await w.runJobs()
  await w.runJobs()
  const { events } = await w.api.listEvents({ query: { event_type: ['audit.broken'] } })
  expect(events).toMatchObject([{ data: { chain_id: w.org_id, reason: 'refused' } }])
})

test('a forged row of a new team is not signed when its chain is opened', async () => {
  const w = await attacked(await ownService())
  const team_id = newUuid()
  await w.attack(newRow(team_id))
  await w.runJobs()
  expect((await w.verify()).breaks).toMatchObject([{ chain_id: team_id, seq: 1, reason: 'the row was not written by Assay' }])
})

test('a thread that verifies again and again keeps nothing of each verification', async () => {
  const { app, url, team_id } = await attacked()
  const thread = new Worker(new URL('../../src/tenants/audit/threads/thread.ts', import.meta.url), { stderr: true })
  let warnings = ''
  thread.stderr.setEncoding('utf8').on('data', (text) => {
    warnings += text
  })
  // Node warns about the eleventh listener of a kind.
  for (let i = 0; i < 12; i++) {
    thread.postMessage({ url, keys: auditKeys(app), options: { at: app.wall(), full: true, chain_ids: [team_id] } })
    expect(await once(thread, 'message')).toMatchObject([{ rows: 4 }])
  }
  await thread.terminate()
  expect(warnings).toBe('')
})
