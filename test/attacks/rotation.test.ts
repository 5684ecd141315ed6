import { describe, expect, test } from 'vitest'
import { openPdfs } from '../../src/labs/unmatched/documents.ts'
import { openUnassignedPdfs } from '../../src/labs/unmatched/unassigned-documents.ts'
import { rotateRoot } from '../../src/operations/rotation/root.ts'
import { sealedColumns } from '../../src/operations/rotation/sealed-columns.ts'
import { resealAll } from '../../src/platform/sealing/rings/reseal.ts'
import { deriveSecret, newKey, type SealingKey, sealingKey } from '../../src/platform/sealing/seal.ts'
import { teamSealingKey } from '../../src/platform/sealing/vault.ts'
import { rowMac } from '../../src/tenants/audit/rules.ts'
import { assay } from '../cli/assay.ts'
import { largestTurn } from '../support/event-loop.ts'
import { file, obr, obx, potassium } from '../support/hl7.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { newSandboxDatabase, replica, world } from '../support/world.ts'

test('a root secret that was replaced forges no audit row', async () => {
  const w = await world({ database: await newSandboxDatabase() })
  await aUser(w.api)
  await w.runJobs()
  const { id, bytes } = w.app.vault.root
  const stolen = deriveSecret(sealingKey(id, Buffer.from(bytes)), 'audit chain')
  await assay(w.url).json('keys', 'rotate-root')
  await query(w.url, "update root_keys set retired_at = retired_at - interval '2 hours' where retired_at is not null")

  const fields = {
    ...{ chain_id: w.team_id, id: newUuid(), at: '2026-03-01T09:30:00.000Z', org_id: w.org_id, team_id: w.team_id, actor_kind: 'team_key' },
    ...{ actor_id: newUuid(), action: 'getUser', subject: null, status: 200, request_id: null, via: null, reason: null },
  }
  await query(
    w.url,
    `insert into audit_outbox (chain_id, id, at, org_id, team_id, actor_kind, actor_id, action, status, mac)
     values ('${fields.chain_id}', '${fields.id}', '${fields.at}', '${fields.org_id}', '${fields.team_id}', 'team_key', '${fields.actor_id}', 'getUser', 200,
       '\\x${rowMac(stolen, fields).toString('hex')}')`,
  )
  const next = await replica({ database: w.url })
  await next.runJobs()
  const verified = await assay(w.url).run('audit', 'verify')
  expect(verified).toMatchObject({ code: 1 })
  expect(verified.out + verified.err).toContain('the row was not written by Assay')
})

describe('replacing a key never holds the event loop, with a result of 14 MB', () => {
  const MAX_PART = 1 / 3
  const pdf = Buffer.concat([Buffer.from('%PDF-1.4 '), Buffer.alloc(14 * 1024 * 1024, 'kestrel55')])
  const lines = [
    obr('UNKNOWN', potassium.order),
    obx(potassium, '4.4'),
    `OBX|9|ED|PDF^Report^L||LAB^AP^PDF^Base64^${pdf.toString('base64')}||||||F`,
  ]
  const sealedOf = async (url: string, table: string, id: string) =>
    (await query<{ sealed: Buffer }>(url, `select documents_sealed as sealed from ${table} where id = $1`, [id]))[0]?.sealed as Buffer

  test('in the queue of the team', async () => {
    const w = await world({ database: await newSandboxDatabase() })
    const { app, org_id, team_id } = w
    await aLabAccount(app.db, { org_id, team_id, number: 'ACC123' })
    const id = (await file(app, {}, lines)).unmatched[0]?.id as string
    const open = async (key: SealingKey) => openPdfs(key, id, await sealedOf(w.url, 'unmatched_results', id))
    const team = await teamSealingKey(app, team_id)
    const before = await open(team)
    const next = newKey(team.owner)
    expect(await largestTurn(() => resealAll(app, sealedColumns, { team_id, user_id: null }, { ...next, others: [team] }))).toBeLessThan(
      MAX_PART,
    )
    expect(before?.equals((await open(next)) as Buffer)).toBe(true)
  })

  test('in the queue of the operator', async () => {
    const { app, url } = await world({ database: await newSandboxDatabase() })
    const id = (await file(app, { account: 'NOBODY' }, lines)).unmatched[0]?.id as string
    const before = await sealedOf(url, 'unassigned_results', id)
    const plain = await openUnassignedPdfs(app, id, before)
    expect(await largestTurn(() => rotateRoot(app, () => {}))).toBeLessThan(MAX_PART)
    const after = await sealedOf(url, 'unassigned_results', id)
    expect(before.equals(after)).toBe(false)
    expect(plain?.equals((await openUnassignedPdfs(app, id, after)) as Buffer)).toBe(true)
  })
})
