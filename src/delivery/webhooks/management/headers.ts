import { type App, inTransaction } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { openSecrets } from '../endpoints.ts'
import * as store from '../store.ts'
import { requireWebhook } from './actions.ts'
import { saveSecrets } from './keys.ts'
import { checkHeaders } from './rules-headers.ts'

type Path = { team_id: string; webhook_id: string }

export async function getWebhookHeaders(app: App, caller: ManagementCaller, path: Path) {
  const { headers, sensitive } = await openSecrets(app, await requireWebhook(app, caller, path))
  const visible = Object.entries(headers).filter(([name]) => !sensitive.includes(name))
  return { headers: Object.fromEntries(visible), sensitive }
}

const credentials = /authorization|token|secret|api-?key|password|cookie/i

type NewHeaders = { headers: Record<string, string>; sensitive?: string[] | null | undefined }

export const putWebhookHeaders = (app: App, caller: ManagementCaller, path: Path, { headers, sensitive }: NewHeaders) =>
  inTransaction(app, async (app) => {
    const webhook = await requireWebhook(app, caller, path, store.lockWebhook)
    checkHeaders(headers)
    const secrets = await openSecrets(app, webhook)
    const sensitiveNames = (sensitive ?? []).map((name) => name.toLowerCase())
    const hidden = Object.keys(headers).filter((name) => credentials.test(name) || sensitiveNames.includes(name.toLowerCase()))
    await saveSecrets(app, webhook, { ...secrets, headers, sensitive: hidden })
  })
