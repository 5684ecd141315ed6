import { expect, test } from 'vitest'
import { newSecret, parseSecret, signatures } from '../../src/delivery/webhooks/sign.ts'
import { world } from '../support/world.ts'

const w = await world()

test('a stranger gets one response for couriers that exist and couriers that do not, also after too many attempts', async () => {
  const { secret } = await w.api.putCourier({ params: { courier: 'swift' }, body: { name: 'Swift Parcel' } })
  const text = JSON.stringify({ tracking_number: 'OUT1001', status: 'in_transit' })
  const send = async (url: string, key: string) => {
    const timestamp = Math.floor(Date.parse(w.app.wall()) / 1000)
    const signed = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures([parseSecret(key)], 'msg_1', timestamp, text),
    }
    const response = await fetch(url, { method: 'POST', headers: { ...signed, 'content-type': 'application/json' }, body: text })
    return `${response.status} ${await response.text()}`
  }
  const { team_id } = await w.tenant()
  const known = [w.team_id, 'swift']
  const unknown = [
    [w.team_id, 'nobody'],
    [team_id, 'swift'],
    ['x', 'swift'],
    [w.team_id, 'No-Courier'],
  ]
  const urls = [known, ...unknown].map((parts) => `${w.base}/couriers/${parts.join('/')}/tracking`)
  const forged = newSecret()
  const responses = async () => new Set(await Promise.all(urls.map((url) => send(url, forged))))
  expect([...(await responses())]).toEqual([expect.stringMatching(/^401 .*signature is not valid/)])
  for (let i = 0; i < 20; i++) await responses()
  expect([...(await responses())]).toEqual([expect.stringMatching(/^429 .*TOO_MANY_ATTEMPTS/)])
  expect(await send(urls[0] as string, secret as string)).toMatch(/^404 .*tracking number/)
})
