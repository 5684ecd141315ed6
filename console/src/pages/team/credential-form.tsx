import { useState } from 'preact/hooks'
import { api, fieldErrors } from '../../api.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentParams, teamParams } from '../../session.ts'
import { CopyButton } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { AreaField, SelectField, TextField } from '../../ui/forms.tsx'
import { showToast } from '../../ui/toasts.tsx'
import type { Credential } from './credentials.tsx'

type Provider = Parameters<typeof api.putTeamCredential>[0]['body']['provider']

/** The endpoint accepts exactly the sources with `auth_type` oauth. */
async function loadOauthSources(): Promise<[Provider, string][]> {
  const sources = await api.listSources()
  return sources.filter(({ auth_type }) => auth_type === 'oauth').map(({ slug, name }) => [slug as Provider, name])
}

/** The API never returns the client secret. */
export function CredentialForm({ existing, onClose }: { existing: Credential | undefined; onClose: () => void }) {
  const sources = useQuery('oauth-sources', loadOauthSources)
  const [selectedSource, setSelectedSource] = useState<string>(existing?.source ?? '')
  const [id, setId] = useState(existing?.client_id ?? '')
  const [secret, setSecret] = useState('')
  const [redirect, setRedirect] = useState(existing?.redirect_url_override ?? '')
  const [serviceAccount, setServiceAccount] = useState('')
  const provider = (selectedSource || sources.data?.[0]?.[0]) as Provider | undefined
  const save = async () => {
    if (!provider) return
    const account = { client_id: id.trim(), ...(secret ? { client_secret: secret.trim() } : {}) }
    const details = serviceAccount.trim() ? { details: { service_account: parseServiceAccount(serviceAccount) } } : {}
    const body = { team_id: teamParams().team_id, provider, ...account, ...details, redirect_url_override: redirect.trim() || null }
    await api.putTeamCredential({ params: deploymentParams(), body })
    refresh('credentials:')
    onClose()
    showToast(`Credentials saved. Users now connect ${humanize(provider)} through your application.`)
  }
  return (
    <FormDialog
      title={existing ? `Replace ${humanize(existing.source)} credentials` : 'Add credentials'}
      submit="Save"
      large
      onClose={onClose}
      onSubmit={save}
    >
      {(error) => (
        <>
          {!existing && <SelectField label="Source" value={provider ?? ''} options={sources.data ?? []} onSelect={setSelectedSource} />}
          {provider && <PreparationSteps provider={provider} />}
          <div class="form-grid">
            <TextField label="Client ID" required autocomplete="off" spellcheck={false} value={id} onText={setId} />
            <TextField
              label="Client secret"
              type="password"
              autocomplete="off"
              required={!existing}
              hint={existing ? 'Leave empty to keep the current secret.' : 'Encrypted and not shown again.'}
              value={secret}
              onText={setSecret}
            />
            <TextField
              full
              label="Redirect URL override"
              type="url"
              hint="Optional. This URL must redirect to the callback URL above."
              value={redirect}
              onText={setRedirect}
              error={fieldErrors(error)['redirect_url_override']}
            />
            {provider === 'google_health' && (
              <AreaField
                full
                label="Service account"
                spellcheck={false}
                autocomplete="off"
                hint="Paste its JSON key. Google sends notifications only with it. Encrypted and not shown again. Leave empty to keep the current one."
                value={serviceAccount}
                onText={setServiceAccount}
              />
            )}
          </div>
        </>
      )}
    </FormDialog>
  )
}

/** Keeps the fields of the key file that Assay needs. */
function parseServiceAccount(text: string) {
  const { project_id, client_email, private_key, private_key_id } = parseKey(text)
  if (!project_id || !client_email || !private_key)
    throw new Error('The service account must be a JSON key with project_id, client_email and private_key.')
  return { project_id, client_email, private_key, ...(private_key_id ? { private_key_id } : {}) }
}

function parseKey(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

function PreparationSteps({ provider }: { provider: Provider }) {
  const { team_id } = teamParams()
  const load = () => api.prepareTeamCredential({ params: deploymentParams(), body: { team_id, provider } })
  const { data } = useQuery(`preparation:${provider}`, load)
  return (
    <>
      {data?.preparation_steps.map(({ type, value, description }) => (
        <div key={type} class="field">
          <span class="label">{description ?? humanize(type)}</span>
          <div class="secret">
            <code class="grow">{value}</code>
            <CopyButton text={value} what={humanize(type)} />
          </div>
        </div>
      ))}
    </>
  )
}
