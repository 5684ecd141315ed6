import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { App } from '../../platform/app.ts'
import { derive, type SealingKey } from '../../platform/sealing/seal.ts'
import { emailHashes } from './actions.ts'
import { MAX_PEOPLE_PER_EMAIL } from './rules.ts'
import * as store from './store.ts'

type Account = { id: string; password: string }

/** The value of the cookie that marks a browser in which the person has signed in. A new password ends it. */
export const newDeviceToken = (app: App, account: Account) => signDevice(app.vault.root, randomBytes(16).toString('base64url'), account)

const signDevice = (root: SealingKey, device: string, { id, password }: Account) =>
  `${device}.${createHmac('sha256', derive(root, 'known devices')).update(`${device} ${id} ${password}`).digest('base64url')}`

/** Finds the device of a browser in which a person with this email has signed in before, with any version of the root secret. */
export async function findKnownDevice(app: App, token: string | undefined, email: string) {
  const device = /^([\w-]{22})\.[\w-]{43}$/.exec(token ?? '')?.[1]
  if (!token || !device) return undefined
  const people = await store.findByEmail(app.db, emailHashes(app, email), undefined, MAX_PEOPLE_PER_EMAIL)
  const isKnown = people.some((person) =>
    app.vault.roots.some(({ key }) => timingSafeEqual(Buffer.from(signDevice(key, device, person)), Buffer.from(token))),
  )
  return isKnown ? device : undefined
}
