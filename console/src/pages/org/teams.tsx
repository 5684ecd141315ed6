import { useState } from 'preact/hooks'
import { api, fieldProblems } from '../../api.ts'
import { whole } from '../../fetch-all-pages.ts'
import { useStore } from '../../observable.ts'
import { refresh, useQuery } from '../../query.ts'
import { chooseTeam, deploymentPath, may, openSession, session } from '../../session.ts'
import { Button, Card, Empty, Id, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { Loaded, Table } from '../../ui/table.tsx'
import { words } from '../../words.ts'

export function Teams() {
  const who = useStore(session)
  const [open, setOpen] = useState(false)
  const { org_id } = deploymentPath()
  const ask = (next_cursor: string | null) => api.listTeams({ params: { org_id }, query: { next_cursor } })
  const teams = useQuery('teams', () => whole(ask, ({ teams }) => teams))
  const add = may('org.manage') && (
    <Button kind="primary" onClick={() => setOpen(true)}>
      Create a team
    </Button>
  )
  return (
    <>
      <Head title={who?.org.name ?? 'Organisation'} actions={add}>
        {words(who?.org.plan)} plan. A team has its own users, orders, keys and webhooks; nothing passes from one to another.
      </Head>
      <Card bare title="Teams">
        <Loaded of={teams} isEmpty={(all) => !all.length} empty={<Empty title="No teams yet" actions={add} />}>
          {(all) => (
            <Table
              label="Teams"
              rows={all}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Name', cell: ({ name }) => <strong>{name}</strong> },
                { name: 'Team', cell: ({ id }) => <Id id={id} what="team id" /> },
                { name: 'Your id', wide: true, cell: ({ integration_team_id }) => integration_team_id ?? <span class="faint">—</span> },
                { name: 'Region', wide: true, cell: ({ region }) => region.toUpperCase() },
                { name: 'Created', wide: true, right: true, cell: ({ created_on }) => <Time at={created_on} real /> },
                {
                  name: 'Open',
                  right: true,
                  cell: ({ id, name }) => (
                    <Button small onClick={() => chooseTeam(id)} aria-label={`Open ${name}`}>
                      Open
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
      {open && <NewTeam onClose={() => setOpen(false)} />}
    </>
  )
}

function NewTeam({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [id, setId] = useState('')
  const { org_id, region } = deploymentPath()
  const create = async () => {
    const team = await api.createTeam({ params: { org_id }, body: { name, region, ...(id ? { integration_team_id: id } : {}) } })
    await openSession()
    refresh('teams')
    onClose()
    chooseTeam(team.id)
  }
  return (
    <FormDialog title="Create a team" submit="Create" onClose={onClose} onSubmit={create}>
      {(error) => (
        <>
          <TextField label="Name" required value={name} onText={setName} wrong={fieldProblems(error)['name']} />
          <TextField
            label="Your id"
            hint="Optional; unique in the organisation."
            value={id}
            onText={setId}
            wrong={fieldProblems(error)['integration_team_id']}
          />
        </>
      )}
    </FormDialog>
  )
}
