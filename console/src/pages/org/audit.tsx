import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize, pluralize, shortId } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { setSearchParams, useSearchParams } from '../../router.tsx'
import { can, deploymentParams, session } from '../../session.ts'
import { Card, EmptyState, Id, Notice, Status, Time } from '../../ui/basics.tsx'
import { FilterSelect } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { type Column, CursorPager, ErrorNotice, QueryView, Table } from '../../ui/table.tsx'
import { teamName } from '../../ui/teams.tsx'
import { Breaks } from './audit-breaks.tsx'

type Entry = Awaited<ReturnType<typeof api.listAudit>>['entries'][number]

const filterNames = ['team_id', 'via', 'action', 'revealed', 'refused'] as const

export function AuditLog() {
  const search = useSearchParams()
  const [pages, setPages] = useState<(string | null)[]>([null])
  const cursor = pages.at(-1) ?? null
  const value = (name: (typeof filterNames)[number]) => search.get(name) ?? ''
  const { org_id } = deploymentParams()
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
    setSearchParams(change)
  }
  return (
    <>
      <PageHeader title="Audit log">
        Who read or changed data, and which requests were rejected. Entries are chained, so tampering is detectable.
      </PageHeader>
      <div class="stack">
        {can('org.manage') && <ChainStatus />}
        <Card bare label="Audit log">
          <div class="filters">
            <SearchField
              text={value('action')}
              label="Action"
              placeholder="Action, such as getUserInfo"
              onSearch={(action) => filter({ action })}
            />
            <FilterSelect
              label="Team"
              placeholder="All teams"
              value={value('team_id')}
              options={(session.get()?.teams ?? []).map(({ team_id, name }) => [team_id, name])}
              onSelect={(team_id) => filter({ team_id })}
            />
            <FilterSelect
              label="Source"
              placeholder="API and console"
              value={value('via')}
              options={[
                ['api', 'API'],
                ['console', 'Console'],
              ]}
              onSelect={(via) => filter({ via })}
            />
            <FilterSelect
              label="Type"
              placeholder="All entries"
              value={value('revealed') ? 'revealed' : value('refused') ? 'refused' : ''}
              options={[
                ['revealed', 'Revealed data'],
                ['refused', 'Rejected requests'],
              ]}
              onSelect={(which) => filter({ revealed: which === 'revealed' ? 'yes' : '', refused: which === 'refused' ? 'yes' : '' })}
            />
          </div>
          <QueryView
            query={log}
            lines={10}
            isEmpty={({ entries }) => !entries.length}
            empty={<EmptyState title="No matching entries">Clear the filters to see all entries.</EmptyState>}
          >
            {({ entries, next_cursor }) => (
              <>
                <Table label="Audit log, newest first" rows={entries} columns={columns} keyOf={({ id }) => id} />
                <CursorPager pages={pages} next={next_cursor} onChange={setPages} />
              </>
            )}
          </QueryView>
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
  { name: 'Actor', cell: ({ actor_name, actor_kind, actor_id }) => actor_name ?? <Actor kind={actor_kind} id={actor_id} /> },
  { name: 'Team', wide: true, cell: ({ team_id }) => (team_id ? teamName(team_id) : <span class="faint">—</span>) },
  { name: 'Subject', wide: true, cell: ({ subject }) => <Subject subject={subject} /> },
  { name: 'Status', wide: true, cell: ({ status }) => <Status tone={status < 400 ? 'good' : 'bad'}>{status}</Status> },
  { name: 'Source', wide: true, cell: ({ via }) => humanize(via ?? 'API') },
  { name: 'Time', right: true, cell: ({ at }) => <Time at={at} isRealTime /> },
]

/** A subject is a field name and an ID, such as `user_id:…`. */
const Subject = ({ subject }: { subject: string | null }) => {
  if (!subject) return <span class="faint">—</span>
  const [name, id = ''] = subject.split(':')
  return (
    <span class="small faint mono" title={subject}>
      {id ? `${name}:${shortId(id)}` : name}
    </span>
  )
}

const Actor = ({ kind, id }: { kind: string; id: string | null }) => (
  <span class="row wrap">
    {humanize(kind)}{' '}
    {id && (
      <span class="wide">
        <Id id={id} what="ID" />
      </span>
    )}
  </span>
)

function ChainStatus() {
  const { org_id } = deploymentParams()
  const chain = useQuery('audit-verdict', () => api.verifyAuditLog({ params: { org_id } }))
  if (chain.error) return <ErrorNotice error={chain.error} onRetry={chain.reload} />
  if (!chain.data) return null
  const { intact, rows, unchained, broken, breaks, verified_at } = chain.data
  return (
    <>
      <Notice tone={intact ? 'good' : 'bad'}>
        {intact ? `Chain verified: ${pluralize(rows, 'row')} checked` : `Chain broken at row ${broken?.seq}: ${broken?.reason}`}
        {unchained > 0 && `; ${pluralize(unchained, 'row')} not chained for more than a minute`}. Checked{' '}
        <Time at={verified_at} isRealTime />.
        {!intact && !breaks.length && ' Only the operator of the deployment can acknowledge this break.'}
      </Notice>
      {breaks.length > 0 && <Breaks breaks={breaks} />}
    </>
  )
}
