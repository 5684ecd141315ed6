import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useStore } from '../../observable.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { may, session } from '../../session.ts'
import { Button, Card, Doing, Empty, Facts, Status, Time } from '../../ui/basics.tsx'
import { Head } from '../../ui/head.tsx'
import { Loaded, Table } from '../../ui/table.tsx'
import { say } from '../../ui/toasts.tsx'
import { plural, words } from '../../words.ts'
import { ChangePassword, RenewCodes, ReplaceAuthenticator } from './dialogs.tsx'

type Found = Awaited<ReturnType<typeof api.getAccount>>

export function Account() {
  const who = useStore(session)
  return (
    <>
      <Head title="My account" />
      {who?.kind === 'person' ? <OfPerson /> : <OfKey />}
    </>
  )
}

const OfKey = () => (
  <Card bare label="My account">
    <Empty title="You are signed in by a key" actions={may('org.manage') && <Link to="/organisation/people">Invite yourself</Link>}>
      A key has no password and no second factor. A person has both, and a name in the audit log.
    </Empty>
  </Card>
)

function OfPerson() {
  const account = useQuery('account', () => api.getAccount())
  return (
    <Loaded of={account}>
      {(found) => (
        <div class="stack">
          <Person of={found} />
          <SignIn left={found.recovery_codes_left} />
          <Sessions of={found.sessions} />
        </div>
      )}
    </Loaded>
  )
}

const Person = ({ of: { person, role } }: { of: Found }) => (
  <Card title="Person">
    <Facts
      of={[
        ['Name', person.name],
        ['E-mail', person.email],
        ['Role', words(role)],
      ]}
    />
  </Card>
)

const dialogs = { password: ChangePassword, authenticator: ReplaceAuthenticator, codes: RenewCodes }

function SignIn({ left }: { left: number }) {
  const [open, setOpen] = useState<keyof typeof dialogs>()
  const Open = open && dialogs[open]
  return (
    <Card title="Sign-in">
      <Row name="Password" about="Changing it signs you out everywhere else.">
        <Button onClick={() => setOpen('password')}>Change password…</Button>
      </Row>
      <Row name="Second factor" about="Always on: nobody signs in with a password alone.">
        <Button onClick={() => setOpen('authenticator')}>Replace the authenticator…</Button>
      </Row>
      <Row name="Recovery codes" about={`${plural(left, 'code')} left, for when the authenticator is lost.`}>
        <Button onClick={() => setOpen('codes')}>New codes…</Button>
      </Row>
      {Open && <Open onClose={() => setOpen(undefined)} />}
    </Card>
  )
}

const Row = ({ name, about, children }: { name: string; about: string; children: ComponentChildren }) => (
  <div class="switch-row wrap">
    <span>
      {name} <span class="small muted">{about}</span>
    </span>
    {children}
  </div>
)

function Sessions({ of }: { of: Found['sessions'] }) {
  const end = async () => {
    const { ended } = await api.endOtherSessions()
    refresh('account')
    say(`${plural(ended, 'session')} ended.`)
  }
  return (
    <Card bare title="Where you are signed in" actions={of.length > 1 && <Doing act={end}>Sign out everywhere else</Doing>}>
      <Table
        label="Sessions"
        rows={of}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Signed in', cell: ({ created_at }) => <Time at={created_at} real /> },
          { name: 'Last used', cell: ({ seen_at }) => <Time at={seen_at} real /> },
          { name: 'Ends unless used', wide: true, cell: ({ idle_ends_at }) => <Time at={idle_ends_at} real /> },
          { name: 'Which', right: true, cell: ({ current }) => current && <Status tone="info">This one</Status> },
        ]}
      />
    </Card>
  )
}
