import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize, pluralize } from '../../format.ts'
import { useObservable } from '../../observable.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { can, session } from '../../session.ts'
import { AsyncButton, Button, Card, DescriptionList, EmptyState, Status, Time } from '../../ui/basics.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { QueryView, Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { ChangePasswordDialog, RenewCodesDialog, ReplaceAuthenticatorDialog } from './dialogs.tsx'

type AccountDetails = Awaited<ReturnType<typeof api.getAccount>>

export function Account() {
  const currentSession = useObservable(session)
  return (
    <>
      <PageHeader title="My account" />
      {currentSession?.kind === 'person' ? <PersonAccount /> : <KeyAccount />}
    </>
  )
}

const KeyAccount = () => (
  <Card bare label="My account">
    <EmptyState title="You are signed in with a key" actions={can('org.manage') && <Link to="/organization/people">Invite yourself</Link>}>
      A key has no password and no second factor. Invite yourself to sign in as a person.
    </EmptyState>
  </Card>
)

function PersonAccount() {
  const account = useQuery('account', () => api.getAccount())
  return (
    <QueryView query={account}>
      {(account) => (
        <div class="stack">
          <Person details={account} />
          {account.has_password && <SignIn codesLeft={account.recovery_codes_left} />}
          <Sessions sessions={account.sessions} />
        </div>
      )}
    </QueryView>
  )
}

const Person = ({ details: { person, role } }: { details: AccountDetails }) => (
  <Card title="Profile">
    <DescriptionList
      items={[
        ['Name', person.name],
        ['Email', person.email],
        ['Role', humanize(role)],
      ]}
    />
  </Card>
)

const dialogs = { password: ChangePasswordDialog, authenticator: ReplaceAuthenticatorDialog, codes: RenewCodesDialog }

function SignIn({ codesLeft }: { codesLeft: number }) {
  const [openDialog, setOpenDialog] = useState<keyof typeof dialogs>()
  const OpenDialog = openDialog && dialogs[openDialog]
  return (
    <Card title="Sign-in">
      <Row name="Password" about="Changing your password signs out your other sessions.">
        <Button onClick={() => setOpenDialog('password')}>Change password</Button>
      </Row>
      <Row name="Second factor" about="Required at every sign-in.">
        <Button onClick={() => setOpenDialog('authenticator')}>Replace authenticator</Button>
      </Row>
      <Row name="Recovery codes" about={`${pluralize(codesLeft, 'code')} left. Use one if you lose your authenticator.`}>
        <Button onClick={() => setOpenDialog('codes')}>Generate new codes</Button>
      </Row>
      {OpenDialog && <OpenDialog onClose={() => setOpenDialog(undefined)} />}
    </Card>
  )
}

const Row = ({ name, about, children }: { name: string; about: string; children: ComponentChildren }) => (
  <div class="setting-row wrap">
    <span>
      {name} <span class="small muted">{about}</span>
    </span>
    {children}
  </div>
)

function Sessions({ sessions }: { sessions: AccountDetails['sessions'] }) {
  const endOthers = async () => {
    const { ended } = await api.endOtherSessions()
    refresh('account')
    showToast(`Signed out ${pluralize(ended, 'other session')}.`)
  }
  return (
    <Card bare title="Sessions" actions={sessions.length > 1 && <AsyncButton action={endOthers}>Sign out other sessions</AsyncButton>}>
      <Table
        label="Sessions"
        rows={sessions}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Signed in', cell: ({ created_at }) => <Time at={created_at} isRealTime /> },
          { name: 'Last used', cell: ({ seen_at }) => <Time at={seen_at} isRealTime /> },
          { name: 'Expires if idle', wide: true, cell: ({ idle_ends_at }) => <Time at={idle_ends_at} isRealTime /> },
          { name: 'Session', right: true, cell: ({ current }) => current && <Status tone="info">This session</Status> },
        ]}
      />
    </Card>
  )
}
