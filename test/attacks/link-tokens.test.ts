import { expect, test } from 'vitest'
import { aLink } from '../support/connections.ts'
import { holdLock } from '../support/hold-lock.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { eventually } from '../support/process.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
const peloton = { provider: 'peloton' as const }
const signIn = (password = 'open sesame') => ({ username: 'rider', password })
const consumed = { status: 401, detail: { error_type: 'LINK_TOKEN_CONSUMED' } }

/** Locks the row of a user, so that requests wait after their authentication. Returns the function that releases it. */
const holdUser = (user_id: string) =>
  holdLock(w.app, (db) =>
    db.selectFrom('users').select('user_id').where('team_id', '=', w.team_id).where('user_id', '=', user_id).forUpdate().execute(),
  )

test('three browsers that use one link token at the same moment connect one source, and the others get 401', async () => {
  const { link, user_id } = await aLink(w.base, w.api)
  const release = await holdUser(user_id)
  const connecting = [1, 2, 3].map(() =>
    link.connectByPassword({ params: peloton, body: signIn() }).then(({ state }) => ({ status: 200, state }), errorBody),
  )
  await eventually(async () => (await lockWaits(w.url)).length >= 3)
  await release()
  const responses = await Promise.all(connecting)
  expect(responses.filter(({ status }) => status === 200)).toEqual([{ status: 200, state: 'success' }])
  for (const response of responses.filter(({ status }) => status !== 200)) expect(response).toMatchObject(consumed)
})

const errorBody = ({ status, detail }: { status: number; detail: object }) => ({ status, detail })

test('a code that arrives while another browser uses the token gets 401', async () => {
  const { link, user_id } = await aLink(w.base, w.api)
  expect((await link.connectByPassword({ params: peloton, body: signIn('mfa') })).state).toBe('pending_provider_mfa')
  const release = await holdUser(user_id)
  const waiting = async (count: number) => void (await eventually(async () => (await lockWaits(w.url)).length >= count))
  const winner = link.connectByPassword({ params: peloton, body: signIn() })
  await waiting(1)
  const code = errorOf(link.completeMfa({ params: peloton, body: { mfa_code: '123456' } }))
  await waiting(2)
  await release()
  expect((await winner).state).toBe('success')
  expect(await code).toMatchObject(consumed)
})
