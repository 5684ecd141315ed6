import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { formatDate, humanize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { setSearchParams, useSearchParams } from '../../router.tsx'
import type { PageProps } from '../../routes.ts'
import { Card, EmptyState } from '../../ui/basics.tsx'
import { DetailPage } from '../../ui/detail-page.tsx'
import { TextField } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Reveal, revealHeaders } from '../../ui/reveal.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { timeIn } from '../orders/visit.tsx'

type Day = Awaited<ReturnType<typeof api.listDayVisits>>
type Visit = Day['visits'][number]

/** The visits of one day, for the people who collect the specimens. */
export function ScheduleDay({ params: { calendar_code = '' } }: PageProps) {
  const [reason, setReason] = useState<string | null>(null)
  const date = useSearchParams().get('date')
  const day = useQuery(`day:${calendar_code}:${date ?? ''}${reason ? '?revealed' : ''}`, () =>
    api.listDayVisits({ params: { calendar_code }, query: { date }, ...revealHeaders(reason) }),
  )
  return (
    <DetailPage query={day} title="Day" up={['/schedule', 'Schedule']}>
      {(day) => (
        <>
          <PageHeader
            up={['/schedule', 'Schedule']}
            title={day.name}
            actions={<Reveal isRevealed={reason !== null} onReveal={setReason} onMask={() => setReason(null)} />}
          >
            {formatDate(day.date)}, times in {day.iana_timezone}
          </PageHeader>
          <div class="stack">
            <TextField label="Day" type="date" value={day.date} onText={(date) => setSearchParams({ date: date || null })} />
            <Card bare label="Visits">
              {day.visits.length ? <Visits day={day} /> : <EmptyState title="No visits on this day" />}
            </Card>
          </div>
        </>
      )}
    </DetailPage>
  )
}

const Visits = ({ day }: { day: Day }) => (
  <Table
    label="Visits"
    rows={day.visits}
    keyOf={({ appointment_id }) => appointment_id}
    to={({ order_id }) => `/orders/${order_id}`}
    columns={columnsIn(day.iana_timezone)}
  />
)

const columnsIn = (zone: string): Column<Visit>[] => [
  { name: 'Time', cell: ({ start_at, end_at }) => `${timeIn(zone, start_at)} – ${timeIn(zone, end_at)}` },
  { name: 'Patient', cell: ({ first_name, last_name }) => [first_name, last_name].filter(Boolean).join(' ') },
  { name: 'Date of birth', wide: true, cell: ({ dob }) => dob && formatDate(dob) },
  { name: 'Test', wide: true, cell: ({ lab_test, fasting }) => (fasting ? `${lab_test}, fasting` : lab_test) },
  { name: 'Specimen', cell: ({ sample_type }) => humanize(sample_type) },
  { name: 'Specimen ID', wide: true, cell: ({ sample_id }) => sample_id && <span class="mono">{sample_id}</span> },
  { name: 'Status', right: true, cell: ({ status }) => humanize(status) },
]
