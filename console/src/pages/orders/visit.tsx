import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { formatDate, humanize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { can } from '../../session.ts'
import { Button, Card, DescriptionList, Id } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/forms.tsx'
import { QueryView } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { refreshOrder } from './actions.tsx'
import type { Order } from './list.tsx'

type Visit = Awaited<ReturnType<typeof api.getHomeVisit>>
type Slots = Awaited<ReturnType<typeof api.listOrderSlots>>
type Cancellation = { order_id: string; reason: string; notes: string | null }

/** The endpoints of each kind of visit. */
const kinds = {
  at_home_phlebotomy: {
    get: api.getHomeVisit,
    book: api.bookHomeVisit,
    move: api.rescheduleHomeVisit,
    reasons: api.listHomeCancellationReasons,
    cancel: ({ order_id, reason, notes }: Cancellation) =>
      api.cancelHomeVisit({ params: { order_id }, body: { cancellation_reason_id: reason, notes } }),
  },
  walk_in_test: {
    get: api.getCenterVisit,
    book: api.bookCenterVisit,
    move: api.rescheduleCenterVisit,
    reasons: api.listCenterCancellationReasons,
    cancel: ({ order_id, reason, notes }: Cancellation) =>
      api.cancelCenterVisit({ params: { order_id }, body: { cancellationReasonId: reason, note: notes } }),
  },
}
type Kind = (typeof kinds)[keyof typeof kinds]

/** The visit of an order that is collected at home or at a site. */
export function VisitCard({ order }: { order: Order }) {
  const kind = kinds[order.details.type as keyof typeof kinds] as Kind | undefined
  return kind ? <KnownVisit order={order} kind={kind} /> : null
}

function KnownVisit({ order, kind }: { order: Order; kind: Kind }) {
  const id = order.details.data?.appointment_id
  const visit = useQuery(id ? `order:${order.id}:visit:${id}` : null, () => kind.get({ params: { order_id: order.id } }))
  if (!id)
    return (
      <Card title="Visit" actions={<VisitActions order={order} kind={kind} />}>
        <p class="muted">No visit is booked.</p>
      </Card>
    )
  return (
    <Card title="Visit" actions={visit.data && <VisitActions order={order} kind={kind} visit={visit.data} />}>
      <QueryView query={visit} lines={3}>
        {(visit) => (
          <DescriptionList
            items={[
              ['Time', visit.start_at ? timeIn(visit.iana_timezone, visit.start_at, true) : 'Not set yet'],
              ['Status', humanize(visit.status)],
              ['Provider', [visit.provider, visit.provider_id].filter(Boolean).join(' · ')],
              ['Notes', visit.appointment_notes],
              ['Appointment ID', <Id id={visit.id} what="appointment ID" />],
            ]}
          />
        )}
      </QueryView>
    </Card>
  )
}

const isActive = (visit: Visit | undefined) => visit !== undefined && !['completed', 'cancelled'].includes(visit.status)

function VisitActions({ order, kind, visit }: { order: Order; kind: Kind; visit?: Visit }) {
  const [open, setOpen] = useState<'book' | 'move' | 'cancel'>()
  const close = () => setOpen(undefined)
  if (!can('data.change') || !['received', 'collecting_sample'].includes(order.status ?? '')) return null
  const canBook = !isActive(visit) || visit?.status === 'pending'
  return (
    <span class="row wrap">
      {canBook && (
        <Button small onClick={() => setOpen('book')}>
          Book visit
        </Button>
      )}
      {visit?.can_reschedule && (
        <Button small onClick={() => setOpen('move')}>
          Move visit
        </Button>
      )}
      {isActive(visit) && (
        <Button small kind="danger" onClick={() => setOpen('cancel')}>
          Cancel visit
        </Button>
      )}
      {open === 'book' && <SlotDialog order={order} title="Book visit" send={kind.book} onClose={close} />}
      {open === 'move' && <SlotDialog order={order} title="Move visit" send={kind.move} onClose={close} />}
      {open === 'cancel' && <CancelVisit order={order} kind={kind} onClose={close} />}
    </span>
  )
}

type SlotDialogProps = {
  order: Order
  title: string
  send: (input: { params: { order_id: string }; body: { booking_key: string } }) => Promise<Visit>
  onClose: () => void
}

function SlotDialog({ order, title, send, onClose }: SlotDialogProps) {
  const [from, setFrom] = useState('')
  const [bookingKey, setBookingKey] = useState('')
  const params = { order_id: order.id }
  const slots = useQuery(`slots:${order.id}:${from}`, () => api.listOrderSlots({ params, query: { start_date: from || null } }))
  const save = async () => {
    const { start_at, iana_timezone } = await send({ params, body: { booking_key: bookingKey } })
    refreshOrder(order.id)
    onClose()
    showToast(`The visit is on ${timeIn(iana_timezone, start_at ?? '', true)}.`)
  }
  return (
    <FormDialog title={title} submit={title} large disabled={!bookingKey} onClose={onClose} onSubmit={save}>
      <TextField label="From" type="date" hint="Shows 14 days." value={from} onText={setFrom} />
      <QueryView query={slots} isEmpty={({ slots }) => !slots.length} empty={<p class="muted">No slot is free on these days.</p>}>
        {(free) => <SlotPicker key={from} free={free} selected={bookingKey} onSelect={setBookingKey} />}
      </QueryView>
    </FormDialog>
  )
}

type SlotPickerProps = { free: Slots; selected: string; onSelect: (booking_key: string) => void }

/** A calendar of the days with free slots, and the times of the selected day. */
function SlotPicker({ free, selected, onSelect }: SlotPickerProps) {
  const sites = [...new Map(free.slots.flatMap(({ location }) => (location ? [[location.code, location.name] as const] : [])))]
  const [site, setSite] = useState(sites[0]?.[0] ?? '')
  const days = free.slots.filter(({ location }) => !location || location.code === site)
  const [date, setDate] = useState(days[0]?.date ?? '')
  const day = days.find((day) => day.date === date) ?? days[0]
  const zone = day?.location?.iana_timezone ?? free.timezone
  return (
    <div class="stack">
      {sites.length > 1 && <SelectField label="Site" value={site} options={sites.map(([code, name]) => [code, name])} onSelect={setSite} />}
      <div class="chips" role="group" aria-label="Days">
        {days.map(({ date }) => (
          <button key={date} type="button" class="chip" aria-pressed={date === day?.date} onClick={() => setDate(date)}>
            {weekdayOf(date)} {formatDate(date)}
          </button>
        ))}
      </div>
      <div class="chips" role="group" aria-label="Times">
        {day?.slots.map(({ booking_key, start }) => (
          <button
            key={booking_key}
            type="button"
            class="chip"
            aria-pressed={booking_key === selected}
            onClick={() => onSelect(booking_key)}
          >
            {timeIn(zone, start)}
          </button>
        ))}
      </div>
      {zone && <p class="small muted">Times in {zone}.</p>}
    </div>
  )
}

const weekdayOf = (date: string) => new Date(`${date}T12:00:00Z`).toLocaleDateString('en-US', { weekday: 'short', timeZone: 'UTC' })

/** A time on the clock of the place of the visit. */
export const timeIn = (zone: string | null | undefined, at: string, withDay = false) =>
  new Date(at).toLocaleString('en-US', {
    ...(withDay ? { weekday: 'short', month: 'short', day: 'numeric' } : {}),
    hour: 'numeric',
    minute: '2-digit',
    timeZone: zone ?? 'UTC',
  })

function CancelVisit({ order, kind, onClose }: { order: Order; kind: Kind; onClose: () => void }) {
  const reasons = useQuery(`reasons:${order.details.type}`, () => kind.reasons())
  const [reason, setReason] = useState('')
  const [notes, setNotes] = useState('')
  const chosen = reason || reasons.data?.[0]?.id || ''
  const cancel = async () => {
    await kind.cancel({ order_id: order.id, reason: chosen, notes: notes.trim() || null })
    refreshOrder(order.id)
    onClose()
    showToast('Visit canceled.')
  }
  return (
    <FormDialog title="Cancel this visit?" submit="Cancel visit" danger disabled={!chosen} onClose={onClose} onSubmit={cancel}>
      <SelectField label="Reason" value={chosen} options={(reasons.data ?? []).map(({ id, name }) => [id, name])} onSelect={setReason} />
      <TextField label="Notes" value={notes} onText={setNotes} />
    </FormDialog>
  )
}
