import { z } from 'zod'
import { newOuraUser } from '../wearables/providers/oura/stand-in/data.ts'
import { openOuraStandIn } from '../wearables/providers/oura/stand-in/server.ts'
import { command } from './command.ts'
import { untilStopped } from './until-stopped.ts'

const Whole = (least: number, most: number) => z.coerce.number().int().min(least).max(most)

export const cloudSimOura = command({
  name: 'cloud-sim oura',
  summary:
    'Run a local stand-in for the Oura cloud: consent page, tokens that expire and rotate, data, limits and signed notifications. Connect simulated accounts to it through the real adapter.',
  options: {
    port: { value: 'PORT', what: 'Port on 127.0.0.1.', shape: Whole(0, 65_535), fallback: '9400' },
    users: { value: 'COUNT', what: 'Simulated accounts.', shape: Whole(1, 1000), fallback: '3' },
    days: { value: 'DAYS', what: 'Days of history of each account.', shape: Whole(1, 366), fallback: '90' },
  },
  examples: ['assay cloud-sim oura --port 9400'],
  async run({ port, users, days, json }) {
    const now = new Date().toISOString()
    const accounts = Array.from({ length: users }, (_, i) => newOuraUser(`oura-user-${i + 1}`, now, days))
    const client = { client_id: 'simulated-client', client_secret: 'simulated-secret' }
    const cloud = await openOuraStandIn({ client, users: accounts, port })
    const setting = JSON.stringify({ oura: cloud.setting })
    console.log(
      json
        ? JSON.stringify({ url: cloud.origin, accounts: accounts.map(({ id }) => id), OAUTH_SOURCES: setting })
        : textOf(cloud.origin, setting),
    )
    const timer = setInterval(() => void cloud.deliver(), 1000)
    await untilStopped()
    clearInterval(timer)
    await cloud.close()
  },
})

const textOf = (origin: string, setting: string) =>
  [
    `The simulated Oura cloud listens on ${origin}.`,
    'Start Assay in the sandbox with this setting:',
    '',
    `OAUTH_SOURCES='${setting}'`,
  ].join('\n')
