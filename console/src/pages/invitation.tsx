import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { humanize } from '../format.ts'
import { SignedOutCard } from '../frame/signed-out-card.tsx'
import { useQuery } from '../query.ts'
import { navigate } from '../router.tsx'
import { startSession } from '../session.ts'
import { Button, DescriptionList, Notice } from '../ui/basics.tsx'
import { TextField } from '../ui/forms.tsx'
import { useSubmit } from '../ui/submit.ts'
import { QueryView } from '../ui/table.tsx'
import { AuthenticatorSetup, NewCode, NewPassword, RecoveryCodes } from './account/secrets.tsx'

type InvitationDetails = Awaited<ReturnType<typeof api.openInvitation>>
type Accepted = Awaited<ReturnType<typeof api.acceptInvitation>>
type Completed = Awaited<ReturnType<typeof api.completeInvitation>>

/** The token is in the fragment, so it appears in no server log and no referrer. */
export function Invitation() {
  const token = location.hash.slice(1)
  const invitation = useQuery(`invitation ${token}`, () => api.openInvitation({ body: { token } }))
  const [accepted, setAccepted] = useState<Accepted>()
  const [completed, setCompleted] = useState<Completed>()
  if (completed)
    return (
      <SignedOutCard title="Save your recovery codes">
        <RecoveryCodesStep details={completed} />
      </SignedOutCard>
    )
  if (accepted)
    return (
      <SignedOutCard title="Set up your authenticator">
        <AuthenticatorForm token={token} accepted={accepted} onCompleted={setCompleted} />
      </SignedOutCard>
    )
  return (
    <SignedOutCard title="Join your organization">
      <QueryView query={invitation}>{(details) => <AcceptForm token={token} details={details} onAccepted={setAccepted} />}</QueryView>
    </SignedOutCard>
  )
}

function AcceptForm({
  token,
  details,
  onAccepted,
}: {
  token: string
  details: InvitationDetails
  onAccepted: (accepted: Accepted) => void
}) {
  const [fields, setFields] = useState({ name: '', password: '' })
  const set = (name: keyof typeof fields) => (text: string) => setFields({ ...fields, [name]: text })
  const { isBusy, error, submit } = useSubmit(async () => onAccepted(await api.acceptInvitation({ body: { token, ...fields } })))
  return (
    <form class="stack" onSubmit={submit}>
      <DescriptionList
        items={[
          ['Organization', details.org_name],
          ['Email', details.email],
          ['Role', humanize(details.role)],
        ]}
      />
      <TextField label="Your name" autocomplete="name" required value={fields.name} onText={set('name')} />
      <NewPassword label="Password" value={fields.password} onText={set('password')} />
      {error && <Notice tone="bad">{error.message}</Notice>}
      <Button type="submit" kind="primary" disabled={isBusy} aria-busy={isBusy}>
        Accept invitation
      </Button>
    </form>
  )
}

type AuthenticatorProps = { token: string; accepted: Accepted; onCompleted: (completed: Completed) => void }

function AuthenticatorForm({ token, accepted, onCompleted }: AuthenticatorProps) {
  const [code, setCode] = useState('')
  const { isBusy, error, submit } = useSubmit(async () =>
    onCompleted(await api.completeInvitation({ body: { token, setup: accepted.setup, code: code.trim() } })),
  )
  return (
    <form class="stack" onSubmit={submit}>
      <AuthenticatorSetup secret={accepted} />
      <NewCode value={code} onText={setCode} />
      {error && <Notice tone="bad">{error.message}</Notice>}
      <Button type="submit" kind="primary" disabled={isBusy} aria-busy={isBusy}>
        Join organization
      </Button>
    </form>
  )
}

const RecoveryCodesStep = ({ details: { recovery_codes, session } }: { details: Completed }) => (
  <div class="stack">
    <RecoveryCodes codes={recovery_codes} />
    <Button
      kind="primary"
      onClick={() => {
        startSession(session)
        navigate('/', { replace: true })
      }}
    >
      Continue
    </Button>
  </div>
)
