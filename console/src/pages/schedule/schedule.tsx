import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { can } from '../../session.ts'
import { Button, Card, EmptyState } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { type Column, QueryView, Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { CalendarForm } from './calendar-form.tsx'
import { type Calendar, changeSchedule } from './change-schedule.ts'

export function Schedule() {
  const [editing, setEditing] = useState<Calendar | 'new'>()
  const [removing, setRemoving] = useState<Calendar>()
  const schedule = useQuery('schedule', () => api.getSchedule())
  const canChange = can('data.change')
  const addButton = canChange && (
    <Button kind="primary" onClick={() => setEditing('new')}>
      Add calendar
    </Button>
  )
  return (
    <>
      <PageHeader title="Schedule" actions={addButton}>
        Collection sites and phlebotomists whose visits you book in Assay.
      </PageHeader>
      <Card bare label="Calendars">
        <QueryView
          query={schedule}
          isEmpty={({ calendars }) => !calendars.length}
          empty={
            <EmptyState title="No calendars yet" actions={addButton}>
              Add a site or a phlebotomist with working hours to book visits.
            </EmptyState>
          }
        >
          {({ calendars }) => (
            <Table
              label="Calendars"
              rows={calendars}
              keyOf={({ code }) => code}
              columns={[...columns, ...(canChange ? [actionColumn(setEditing, setRemoving)] : [])]}
            />
          )}
        </QueryView>
      </Card>
      {editing && <CalendarForm existing={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
      {removing && <RemoveDialog calendar={removing} onClose={() => setRemoving(undefined)} />}
    </>
  )
}

const columns: Column<Calendar>[] = [
  { name: 'Name', cell: ({ code, name }) => <Link to={`/schedule/${code}`}>{name}</Link> },
  { name: 'Kind', cell: ({ kind }) => humanize(kind) },
  { name: 'Provider', wide: true, cell: ({ provider }) => provider },
  { name: 'Visit', wide: true, cell: ({ slot_minutes }) => `${slot_minutes} minutes` },
  { name: 'Time zone', wide: true, cell: ({ iana_timezone }) => iana_timezone },
]

const actionColumn = (onChange: (calendar: Calendar) => void, onRemove: (calendar: Calendar) => void): Column<Calendar> => ({
  name: 'Actions',
  right: true,
  cell: (calendar) => (
    <span class="row wrap">
      <Button small onClick={() => onChange(calendar)} aria-label={`Change ${calendar.name}`}>
        Change
      </Button>
      <Button small kind="danger" onClick={() => onRemove(calendar)} aria-label={`Remove ${calendar.name}`}>
        Remove
      </Button>
    </span>
  ),
})

function RemoveDialog({ calendar: { code, name }, onClose }: { calendar: Calendar; onClose: () => void }) {
  const remove = async () => {
    await changeSchedule((calendars) => calendars.filter((calendar) => calendar.code !== code))
    onClose()
    showToast(`Removed ${name}.`)
  }
  return (
    <FormDialog title={`Remove ${name}?`} submit="Remove calendar" danger onClose={onClose} onSubmit={remove}>
      <p>Nobody can book new visits. Booked visits stay.</p>
    </FormDialog>
  )
}
