import { useState } from 'preact/hooks'
import { api, fieldErrors } from '../../api.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentParams, teamParams } from '../../session.ts'
import { CopyButton } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/forms.tsx'
import { showToast } from '../../ui/toasts.tsx'
import type { Credential } from './credentials.tsx'

type Provider = Parameters<typeof api.putTeamCredential>[0]['body']['provider']

/** Sources of auth_type oauth are exactly those that the row takes. */
async function loadOauthSources(): Promise<[Provider, string][]> {
  const sources = await api.listSources()
  return sources.filter(({ auth_type }) => auth_type === 'oauth').map(({ slug, name }) => [slug as Provider, name])
}

/** Sets the account at a source, or replaces what is sent of it; the secret is never shown again. */
export function CredentialForm({ existing, onClose }: { existing: Credential | undefined; onClose: () => void }) {
  const sources = useQuery('oauth-sources', loadOauthSources)
  const [selectedSource, setSelectedSource] = useState<string>(existing?.source ?? '')
  const [id, setId] = useState(existing?.client_id ?? '')
  const [secret, setSecret] = useState('')
  const [redirect, setRedirect] = useState(existing?.redirect_url_override ?? '')
  const provider = (selectedSource || sources.data?.[0]?.[0]) as Provider | undefined
  const save = async () => {
    if (!provider) return
    const account = { client_id: id.trim(), ...(secret ? { client_secret: secret.trim() } : {}) }
    const body = { team_id: teamParams().team_id, provider, ...account, redirect_url_override: redirect.trim() || null }
    await api.putTeamCredential({ params: deploymentParams(), body })
    refresh('credentials:')
    onClose()
    showToast(`Users of the team connect ${humanize(provider)} through your application from now on.`)
  }
  return (
    <FormDialog
      title={existing ? `Replace the credentials for ${humanize(existing.source)}` : 'Set credentials'}
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
            <TextField label="Client id" required autocomplete="off" spellcheck={false} value={id} onText={setId} />
            <TextField
              label="Client secret"
              type="password"
              autocomplete="off"
              required={!existing}
              hint={existing ? 'Empty: the one that is kept stays.' : 'It is sealed and never shown again.'}
              value={secret}
              onText={setSecret}
            />
            <TextField
              full
              label="Redirect address of your own"
              type="url"
              hint="Optional; it must lead to ours."
              value={redirect}
              onText={setRedirect}
              error={fieldErrors(error)['redirect_url_override']}
            />
          </div>
        </>
      )}
    </FormDialog>
  )
}

/** What to set at the source first. */
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
