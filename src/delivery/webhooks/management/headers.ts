import type { App } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { openSecrets } from '../endpoints.ts'
import { requireWebhook, type WebhookPath } from './actions.ts'
import { changeSecrets } from './keys.ts'
import { checkHeaders } from './rules-headers.ts'

export async function getWebhookHeaders(app: App, caller: ManagementCaller, path: WebhookPath) {
  const { headers, sensitive } = await openSecrets(app, await requireWebhook(app, caller, path))
  const visible = Object.entries(headers).filter(([name]) => !sensitive.includes(name))
  return { headers: Object.fromEntries(visible), sensitive }
}

const credentials = /authorization|token|secret|api-?key|password|cookie/i

type NewHeaders = { headers: Record<string, string>; sensitive?: string[] | null | undefined }

export const putWebhookHeaders = (app: App, caller: ManagementCaller, path: WebhookPath, { headers, sensitive }: NewHeaders) =>
  changeSecrets(app, caller, path, (secrets) => {
    checkHeaders(headers)
    const sensitiveNames = (sensitive ?? []).map((name) => name.toLowerCase())
    const hidden = Object.keys(headers).filter((name) => credentials.test(name) || sensitiveNames.includes(name.toLowerCase()))
    return { ...secrets, headers, sensitive: hidden }
  })
