import { expect, test } from 'vitest'
import { localDelivery } from '../support/local-delivery.ts'
import { query } from '../support/query.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const delivery = await localDelivery(w)

test('a webhook whose outcomes the database refuses holds up no other one of its team, and goes on later', async () => {
  const team = await delivery.team()
  const [refused, other] = [await team.webhook(), await team.webhook()]
  await query(
    w.url,
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
     create trigger refuse before insert on attempts for each row when (new.webhook_id = '${refused.id}') execute function refuse()`,
  )
  await team.emit('a', 'b')
  await other.settled()
  await refused.has(2)
  await query(w.url, 'drop function refuse cascade')
  expect((await refused.get()).waiting).toBe(2)
  // A change of the team loads its webhooks again.
  await refused.patch({ description: 'repaired' })
  await refused.settled()
  expect(refused.chain().slice(-2)).toEqual([
    [1, undefined],
    [2, 1],
  ])
})
