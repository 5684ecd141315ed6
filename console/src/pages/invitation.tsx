import { useState } from 'preact/hooks'
import { api, type Failure } from '../api.ts'
import { Brand } from '../frame/brand.tsx'
import { useQuery } from '../query.ts'
import { go } from '../router.tsx'
import { enter } from '../session.ts'
import { Button, Facts, Notice } from '../ui/basics.tsx'
import { TextField } from '../ui/forms.tsx'
import { Loaded } from '../ui/table.tsx'
import { words } from '../words.ts'
import { Authenticator, RecoveryCodes } from './account/secrets.tsx'

type Invited = Awaited<ReturnType<typeof api.openInvitation>>
type Accepted = Awaited<ReturnType<typeof api.acceptInvitation>>

/** The token follows #, so it reaches no server log and leaves with no link. */
export function Invitation() {
  const token = location.hash.slice(1)
  const invitation = useQuery(`invitation ${token}`, () => api.openInvitation({ body: { token } }))
  const [accepted, setAccepted] = useState<Accepted>()
  return (
    <div class="sign-in">
      <main>
        <div class="brand">
          <Brand /> Assay
        </div>
        <div class="card stack">
          <h1>{accepted ? 'Keep these codes' : 'Join'}</h1>
          {accepted ? (
            <Codes of={accepted} />
          ) : (
            <Loaded of={invitation}>{(found) => <Accept token={token} of={found} onAccepted={setAccepted} />}</Loaded>
          )}
        </div>
      </main>
    </div>
  )
}

function Accept({ token, of, onAccepted }: { token: string; of: Invited; onAccepted: (accepted: Accepted) => void }) {
  const [fields, setFields] = useState({ name: '', password: '', code: '' })
  const [error, setError] = useState<Failure>()
  const set = (name: keyof typeof fields) => (text: string) => setFields({ ...fields, [name]: text })
  const accept = async (event: Event) => {
    event.preventDefault()
    setError(undefined)
    await api.acceptInvitation({ body: { token, ...fields, code: fields.code.trim() } }).then(onAccepted, setError)
  }
  return (
    <form class="stack" onSubmit={accept}>
      <Facts
        of={[
          ['To', of.org_name],
          ['As', of.email],
          ['Role', words(of.role)],
        ]}
      />
      <TextField label="Your name" autocomplete="name" required value={fields.name} onText={set('name')} />
      <TextField
        label="Password"
        type="password"
        autocomplete="new-password"
        hint="At least 12 characters."
        required
        value={fields.password}
        onText={set('password')}
      />
      <Authenticator of={of} />
      <TextField
        label="Code"
        hint="Six digits that the app shows now."
        inputMode="numeric"
        autocomplete="one-time-code"
        required
        value={fields.code}
        onText={set('code')}
      />
      {error && <Notice tone="bad">{error.message}</Notice>}
      <Button type="submit" kind="primary">
        Join
      </Button>
    </form>
  )
}

const Codes = ({ of: { recovery_codes, session } }: { of: Accepted }) => (
  <div class="stack">
    <RecoveryCodes codes={recovery_codes} />
    <Button
      kind="primary"
      onClick={() => {
        enter(session)
        go('/', { replace: true })
      }}
    >
      Go on
    </Button>
  </div>
)
