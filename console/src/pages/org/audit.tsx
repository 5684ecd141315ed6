import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { setSearch, useSearch } from '../../router.tsx'
import { deploymentPath, may, session } from '../../session.ts'
import { Card, Empty, Id, Notice, Status, Time } from '../../ui/basics.tsx'
import { Find } from '../../ui/find.tsx'
import { Choice } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { type Column, Failed, Loaded, OlderPager, Table } from '../../ui/table.tsx'
import { teamName } from '../../ui/teams.tsx'
import { count, plural, words } from '../../words.ts'

type Entry = Awaited<ReturnType<typeof api.listAudit>>['entries'][number]

const names = ['team_id', 'via', 'action', 'revealed', 'refused'] as const

export function AuditLog() {
  const search = useSearch()
  const [pages, setPages] = useState<(string | null)[]>([null])
  const cursor = pages.at(-1) ?? null
  const value = (name: (typeof names)[number]) => search.get(name) ?? ''
  const { org_id } = deploymentPath()
  const log = useQuery(`audit?${search}&${cursor}`, () =>
    api.listAudit({
      params: { org_id },
      query: {
        ...(value('team_id') ? { team_id: value('team_id') } : {}),
        ...(value('action') ? { action: value('action') } : {}),
        ...(value('via') ? { via: value('via') as 'console' | 'api' } : {}),
        ...(value('revealed') ? { revealed: true } : {}),
        ...(value('refused') ? { refused: true } : {}),
        ...(cursor ? { next_cursor: cursor } : {}),
      },
    }),
  )
  const filter = (change: Record<string, string>) => {
    setPages([null])
    setSearch(change)
  }
  return (
    <>
      <Head title="Audit log">
        Who read or changed what, and what was refused; chained, so that no row can be changed or taken out unseen.
      </Head>
      <div class="stack">
        {may('org.manage') && <Verdict />}
        <Card bare label="Audit log">
          <div class="filters">
            <Find text={value('action')} label="Action" placeholder="Action, as getUserInfo" onFind={(action) => filter({ action })} />
            <Choice
              label="Team"
              none="All teams"
              value={value('team_id')}
              options={(session.get()?.teams ?? []).map(({ team_id, name }) => [team_id, name])}
              onChoose={(team_id) => filter({ team_id })}
            />
            <Choice
              label="Where"
              none="API and console"
              value={value('via')}
              options={['api', 'console']}
              onChoose={(via) => filter({ via })}
            />
            <Choice
              label="Which"
              none="All"
              value={value('revealed') ? 'revealed' : value('refused') ? 'refused' : ''}
              options={['revealed', 'refused']}
              onChoose={(which) => filter({ revealed: which === 'revealed' ? 'yes' : '', refused: which === 'refused' ? 'yes' : '' })}
            />
          </div>
          <Loaded
            of={log}
            lines={10}
            isEmpty={({ entries }) => !entries.length}
            empty={<Empty title="Nothing matches">Clear the filters to see everything.</Empty>}
          >
            {({ entries, next_cursor }) => (
              <>
                <Table label="Audit log, newest first" rows={entries} columns={columns} keyOf={({ id }) => id} />
                <OlderPager pages={pages} next={next_cursor} turn={setPages} />
              </>
            )}
          </Loaded>
        </Card>
      </div>
    </>
  )
}

const columns: Column<Entry>[] = [
  {
    name: 'Action',
    cell: ({ action, revealed, reason }) => (
      <>
        <code>{action}</code> {revealed && <Status tone="warn">Revealed</Status>}
        {reason && <div class="small muted">{reason}</div>}
      </>
    ),
  },
  { name: 'Who', cell: ({ actor_name, actor_kind, actor_id }) => actor_name ?? <Who kind={actor_kind} id={actor_id} /> },
  { name: 'Team', wide: true, cell: ({ team_id }) => (team_id ? teamName(team_id) : <span class="faint">—</span>) },
  { name: 'About', wide: true, cell: ({ subject }) => <span class="small faint mono">{subject?.slice(0, 28)}</span> },
  { name: 'Answer', wide: true, cell: ({ status }) => <Status tone={status < 400 ? 'good' : 'bad'}>{status}</Status> },
  { name: 'From', wide: true, cell: ({ via }) => words(via ?? 'API') },
  { name: 'When', right: true, cell: ({ at }) => <Time at={at} real /> },
]

const Who = ({ kind, id }: { kind: string; id: string | null }) => (
  <span class="row wrap">
    {words(kind)} {id && <Id id={id} what="id" />}
  </span>
)

function Verdict() {
  const { org_id } = deploymentPath()
  const verdict = useQuery('audit-verdict', () => api.verifyAuditLog({ params: { org_id } }))
  if (verdict.error) return <Failed error={verdict.error} again={verdict.reload} />
  if (!verdict.data) return null
  const { intact, rows, unchained, broken, verified_at } = verdict.data
  return (
    <Notice tone={intact ? 'good' : 'bad'}>
      {intact ? `The chain is intact: ${count(rows)} rows were walked` : `The chain is broken at row ${broken?.seq}: ${broken?.reason}`}
      {unchained > 0 && `; ${plural(unchained, 'row')} of the last moments ${unchained === 1 ? 'joins' : 'join'} it within about a second`}.
      Verified <Time at={verified_at} real />.
    </Notice>
  )
}
