import type { Client } from '../../src/contract/client.ts'
import { aLink } from './connections.ts'

export type OAuthSlug = Parameters<Awaited<ReturnType<typeof aLink>>['link']['startOAuth']>[0]['params']['oauth_provider']

export type Connecting = { without?: string[]; user_id?: string; region?: string }

/** Reaches a service under its address on this machine instead of its public one. */
export const reachable = (base: string, url: string) => `${base}${new URL(url).pathname}${new URL(url).search}`

/** Connects an account at the consent page of a stand-in, like a browser does. Returns the user. */
export async function grantAccess(base: string, slug: OAuthSlug, api: Client, account: string, options: Connecting = {}) {
  const { without = [], user_id, region } = options
  const link = await aLink(base, api, { ...(user_id ? { user_id } : {}), redirect_url: 'https://shop.example/back' })
  const { oauth_url } = await link.link.startOAuth({ params: { oauth_provider: slug }, query: { region } })
  const page = await fetch(oauth_url as string)
  if (page.status !== 200) throw new Error(`The consent page of ${slug} responded with ${page.status}: ${await page.text()}`)
  const { origin, pathname, searchParams } = new URL(oauth_url as string)
  const form = new URLSearchParams([...searchParams, ['user', account], ['decision', 'allow']])
  const offered = [...(await page.text()).matchAll(/name="granted" value="([^"]+)"/g)].map(([, scope]) => scope as string)
  for (const scope of offered.filter((name) => !without.includes(name))) form.append('granted', scope)
  const consent = await fetch(`${origin}${pathname}`, { method: 'POST', body: form, redirect: 'manual' })
  const back = await fetch(reachable(base, consent.headers.get('location') as string), { redirect: 'manual' })
  const result = new URL(back.headers.get('location') as string).searchParams
  if (result.get('state') !== 'success') throw new Error(`${slug} was not connected: ${result}`)
  return link.user_id
}
