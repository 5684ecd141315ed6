import { z } from 'zod'
import { command } from './command.ts'
import { Count } from './service.ts'
import { simulatedClouds } from './simulated-clouds.ts'
import { untilStopped } from './until-stopped.ts'

const Whole = (least: number, most: number) =>
  Count.pipe(z.int().min(least, `must be at least ${least}.`).max(most, `must be at most ${most}.`))

const simulate = (slug: keyof typeof simulatedClouds) => {
  const { name, port, start } = simulatedClouds[slug]
  return command({
    name: `cloud-sim ${slug}`,
    summary: `Run a local stand-in for the ${name} cloud: consent page, tokens that expire and rotate, data, limits and notifications. Connect simulated accounts to it through the real adapter.`,
    options: {
      port: { value: 'PORT', what: 'Port on 127.0.0.1.', shape: Whole(0, 65_535), fallback: String(port) },
      users: { value: 'COUNT', what: 'Simulated accounts.', shape: Whole(1, 1000), fallback: '3' },
      odd: { value: 'COUNT', what: 'Malformed records in each page of data. Assay skips them.', shape: Whole(0, 100), fallback: '0' },
      days: { value: 'DAYS', what: 'Days of history of each account.', shape: Whole(1, 366), fallback: '90' },
    },
    examples: [`assay cloud-sim ${slug} --port ${port}`],
    async run({ port, users, days, odd, json }) {
      const { origin, accounts, setting, stop } = await start({ port, users, days, odd })
      // Before the output, because its reader can stop the command at once.
      const stopped = untilStopped()
      const OAUTH_SOURCES = JSON.stringify({ [slug]: setting })
      console.log(json ? JSON.stringify({ url: origin, accounts, OAUTH_SOURCES }) : textOf(name, origin, OAUTH_SOURCES))
      await stopped
      await stop()
    },
  })
}

const textOf = (name: string, origin: string, setting: string) =>
  [
    `The simulated ${name} cloud listens on ${origin}.`,
    'Start Assay in the sandbox with this setting:',
    '',
    `OAUTH_SOURCES='${setting}'`,
  ].join('\n')

export const cloudSimOura = simulate('oura')
export const cloudSimWithings = simulate('withings')
export const cloudSimWhoop = simulate('whoop_v2')
export const cloudSimGoogleHealth = simulate('google_health')
export const cloudSimDexcom = simulate('dexcom_v3')
