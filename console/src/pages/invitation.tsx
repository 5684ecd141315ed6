import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { Outside } from '../frame/outside.tsx'
import { useQuery } from '../query.ts'
import { go } from '../router.tsx'
import { enter } from '../session.ts'
import { Button, Facts, Notice } from '../ui/basics.tsx'
import { TextField } from '../ui/forms.tsx'
import { useSubmit } from '../ui/submit.ts'
import { Loaded } from '../ui/table.tsx'
import { words } from '../words.ts'
import { Authenticator, NewCode, NewPassword, RecoveryCodes } from './account/secrets.tsx'

type Invited = Awaited<ReturnType<typeof api.openInvitation>>
type Accepted = Awaited<ReturnType<typeof api.acceptInvitation>>

/** The token follows #, so it reaches no server log and leaves with no link. */
export function Invitation() {
  const token = location.hash.slice(1)
  const invitation = useQuery(`invitation ${token}`, () => api.openInvitation({ body: { token } }))
  const [accepted, setAccepted] = useState<Accepted>()
  if (accepted)
    return (
      <Outside title="Keep these codes">
        <Codes of={accepted} />
      </Outside>
    )
  return (
    <Outside title="Join">
      <Loaded of={invitation}>{(found) => <Accept token={token} of={found} onAccepted={setAccepted} />}</Loaded>
    </Outside>
  )
}

function Accept({ token, of, onAccepted }: { token: string; of: Invited; onAccepted: (accepted: Accepted) => void }) {
  const [fields, setFields] = useState({ name: '', password: '', code: '' })
  const set = (name: keyof typeof fields) => (text: string) => setFields({ ...fields, [name]: text })
  const { busy, error, send } = useSubmit(async () =>
    onAccepted(await api.acceptInvitation({ body: { token, ...fields, code: fields.code.trim() } })),
  )
  return (
    <form class="stack" onSubmit={send}>
      <Facts
        of={[
          ['To', of.org_name],
          ['As', of.email],
          ['Role', words(of.role)],
        ]}
      />
      <TextField label="Your name" autocomplete="name" required value={fields.name} onText={set('name')} />
      <NewPassword label="Password" value={fields.password} onText={set('password')} />
      <Authenticator of={of} />
      <NewCode value={fields.code} onText={set('code')} />
      {error && <Notice tone="bad">{error.message}</Notice>}
      <Button type="submit" kind="primary" disabled={busy} aria-busy={busy}>
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
