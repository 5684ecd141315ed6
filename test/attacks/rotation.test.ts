import { expect, test } from 'vitest'
import { deriveSecret, sealingKey } from '../../src/platform/sealing/seal.ts'
import { rowMac } from '../../src/tenants/audit/rules.ts'
import { assay } from '../cli/assay.ts'
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
    `insert into audit_log (chain_id, id, at, org_id, team_id, actor_kind, actor_id, action, status, mac)
     values ('${fields.chain_id}', '${fields.id}', '${fields.at}', '${fields.org_id}', '${fields.team_id}', 'team_key', '${fields.actor_id}', 'getUser', 200,
       '\\x${rowMac(stolen, fields).toString('hex')}')`,
  )
  const next = await replica({ database: w.url })
  await next.runJobs()
  const verified = await assay(w.url).run('audit', 'verify')
  expect(verified).toMatchObject({ code: 1 })
  expect(verified.out + verified.err).toContain('the row was not written by Assay')
})
