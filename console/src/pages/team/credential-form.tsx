import { useState } from 'preact/hooks'
import { api, fieldProblems } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentPath, teamPath } from '../../session.ts'
import { Copy } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/forms.tsx'
import { say } from '../../ui/toasts.tsx'
import { words } from '../../words.ts'
import type { Credential } from './credentials.tsx'

type Provider = Parameters<typeof api.putTeamCredential>[0]['body']['provider']

/** Sources of auth_type oauth are exactly those that the row takes. */
async function oauthSources(): Promise<[Provider, string][]> {
  const sources = await api.listSources()
  return sources.filter(({ auth_type }) => auth_type === 'oauth').map(({ slug, name }) => [slug as Provider, name])
}

/** Sets the account at a source, or replaces what is sent of it; the secret is never shown again. */
export function CredentialForm({ kept, onClose }: { kept: Credential | undefined; onClose: () => void }) {
  const sources = useQuery('oauth-sources', oauthSources)
  const [chosen, setChosen] = useState<string>(kept?.source ?? '')
  const [id, setId] = useState(kept?.client_id ?? '')
  const [secret, setSecret] = useState('')
  const [redirect, setRedirect] = useState(kept?.redirect_url_override ?? '')
  const provider = (chosen || sources.data?.[0]?.[0]) as Provider | undefined
  const save = async () => {
    if (!provider) return
    const account = { client_id: id.trim(), ...(secret ? { client_secret: secret.trim() } : {}) }
    const body = { team_id: teamPath().team_id, provider, ...account, redirect_url_override: redirect.trim() || null }
    await api.putTeamCredential({ params: deploymentPath(), body })
    refresh('credentials:')
    onClose()
    say(`Users of the team connect ${words(provider)} through your application from now on.`)
  }
  return (
    <FormDialog
      title={kept ? `Replace the credentials for ${words(kept.source)}` : 'Set credentials'}
      submit="Save"
      large
      onClose={onClose}
      onSubmit={save}
    >
      {(error) => (
        <>
          {!kept && <SelectField label="Source" value={provider ?? ''} options={sources.data ?? []} onChoose={setChosen} />}
          {provider && <Preparation provider={provider} />}
          <div class="form-grid">
            <TextField label="Client id" required autocomplete="off" spellcheck={false} value={id} onText={setId} />
            <TextField
              label="Client secret"
              type="password"
              autocomplete="off"
              required={!kept}
              hint={kept ? 'Empty: the one that is kept stays.' : 'It is sealed and never shown again.'}
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
              wrong={fieldProblems(error)['redirect_url_override']}
            />
          </div>
        </>
      )}
    </FormDialog>
  )
}

/** What to set at the source first. */
function Preparation({ provider }: { provider: Provider }) {
  const { team_id } = teamPath()
  const load = () => api.prepareTeamCredential({ params: deploymentPath(), body: { team_id, provider } })
  const { data } = useQuery(`preparation:${provider}`, load)
  return (
    <>
      {data?.preparation_steps.map(({ type, value, description }) => (
        <div key={type} class="field">
          <span class="label">{description ?? words(type)}</span>
          <div class="secret">
            <code class="grow">{value}</code>
            <Copy text={value} what={words(type)} />
          </div>
        </div>
      ))}
    </>
  )
}
