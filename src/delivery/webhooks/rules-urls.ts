import type { ConsoleRole } from '../../contract/tenants/sessions.ts'
import { hasCapability } from '../../tenants/people/sessions/rules-roles.ts'

const HIDDEN = '•••'

/** The URL as the caller may see it. People who cannot manage the team see neither its query nor credentials, which can be secrets. */
export const shownUrl = ({ console }: { console?: { role: ConsoleRole } }, url: string) =>
  !console || hasCapability(console.role, 'team.manage') ? url : withoutSecrets(url)

export function withoutSecrets(text: string) {
  const url = URL.parse(text)
  if (!url) return HIDDEN
  const credentials = url.username || url.password ? `${HIDDEN}@` : ''
  return `${url.protocol}//${credentials}${url.host}${url.pathname}${url.search ? `?${HIDDEN}` : ''}`
}
