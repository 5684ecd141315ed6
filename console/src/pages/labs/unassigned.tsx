import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { Button, Card, EmptyState, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { type Column, CursorPager, QueryView, Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { Interpretation } from './unmatched.tsx'

type Page = Awaited<ReturnType<typeof api.listUnassignedResults>>
type Result = Page['results'][number]

const reasonLabels: Record<string, string> = { holds_account: 'holds the account', placed_order: 'placed the order' }

/** The queue of the operator. No team can read it. */
export function UnassignedResults() {
  const [assigning, setAssigning] = useState<Result>()
  const [pages, setPages] = useState<(string | null)[]>([null])
  const next_cursor = pages.at(-1)
  const results = useQuery(`unassigned-results?${next_cursor}`, () =>
    api.listUnassignedResults({ query: next_cursor ? { next_cursor } : {} }),
  )
  return (
    <>
      <PageHeader title="Results without a team">
        Lab results whose lab account belongs to no team or to several. No team can read them until you assign them.
      </PageHeader>
      <Card bare label="Results without a team">
        <QueryView
          query={results}
          lines={6}
          isEmpty={({ results }) => !results.length}
          empty={<EmptyState title="No results without a team">Every result went to a team.</EmptyState>}
        >
          {({ results, next_cursor }) => (
            <>
              <Table
                label="Results without a team, critical first, then oldest"
                rows={results}
                keyOf={({ id }) => id}
                columns={columns(setAssigning)}
              />
              <CursorPager pages={pages} next={next_cursor} onChange={setPages} />
            </>
          )}
        </QueryView>
      </Card>
      {assigning && results.data && <Assign result={assigning} teams={results.data.teams} onClose={() => setAssigning(undefined)} />}
    </>
  )
}

const columns = (onAssign: (result: Result) => void): Column<Result>[] => [
  {
    name: 'Lab account',
    cell: ({ lab, account, order_number, created_at }) => (
      <>
        {account ?? <span class="faint">None</span>}
        <div class="small muted">
          {lab.name}
          {order_number && `, order ${order_number}`}
        </div>
        <span class="only-narrow small faint">
          <Time at={created_at} isRealTime />
        </span>
      </>
    ),
  },
  { name: 'Result', cell: ({ interpretation }) => <Interpretation value={interpretation} /> },
  { name: 'Report', wide: true, cell: ({ result_status }) => humanize(result_status) },
  {
    name: 'Possible teams',
    wide: true,
    cell: ({ teams }) =>
      teams.length ? (
        teams.map(({ team_id, name, reasons }) => (
          <div key={team_id}>
            {name} <span class="small muted">{reasons.map((reason) => reasonLabels[reason] ?? humanize(reason)).join(', ')}</span>
          </div>
        ))
      ) : (
        <span class="faint">None</span>
      ),
  },
  { name: 'Received', wide: true, right: true, cell: ({ created_at }) => <Time at={created_at} isRealTime /> },
  {
    name: 'Actions',
    right: true,
    cell: (result) => (
      <Button small onClick={() => onAssign(result)}>
        Assign
      </Button>
    ),
  },
]

type AssignProps = { result: Result; teams: Page['teams']; onClose: () => void }

function Assign({ result, teams, onClose }: AssignProps) {
  // The team that placed the order with this number is the likeliest.
  const likely =
    result.teams.find(({ reasons }) => reasons.includes('placed_order')) ?? (result.teams.length === 1 ? result.teams[0] : undefined)
  const [team_id, setTeam] = useState(likely?.team_id ?? '')
  const assign = async () => {
    await api.assignUnassignedResult({ params: { unassigned_result_id: result.id }, body: { team_id } })
    refresh('unassigned-results')
    onClose()
    showToast('Result assigned. The team reviews it in its queue.')
  }
  return (
    <FormDialog title="Assign result" submit="Assign" disabled={!team_id} onClose={onClose} onSubmit={assign}>
      <p>The team can then read the patient and the values, and accepts or rejects the result. This cannot be undone.</p>
      <SelectField
        label="Team"
        placeholder="Choose a team"
        value={team_id}
        options={teams.map(({ team_id, name }): [string, string] => [team_id, name])}
        onSelect={setTeam}
      />
    </FormDialog>
  )
}
