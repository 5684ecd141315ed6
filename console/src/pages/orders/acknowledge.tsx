import { useState } from 'preact/hooks'
import { type ApiError, api } from '../../api.ts'
import { humanize, shortId } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, session } from '../../session.ts'
import { Button, Notice, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { AreaField } from '../../ui/forms.tsx'
import { Reveal, revealHeaders } from '../../ui/reveal.tsx'
import { showToast } from '../../ui/toasts.tsx'

type Critical = Awaited<ReturnType<typeof api.getCriticalResult>>
type Read = { order_id: string; result_version: number }

/** `result_version` is the report that the page shows; without it, the page shows none yet. */
export function CriticalNotice({ order_id, result_version }: { order_id: string; result_version: number | undefined }) {
  const [reason, setReason] = useState<string | null>(null)
  const critical = useQuery(`critical:${order_id}${reason ? '?revealed' : ''}`, () =>
    api.getCriticalResult({ params: { order_id }, ...revealHeaders(reason) }),
  )
  if (!critical.data) return null
  if (!critical.data.acknowledged_at) return <OpenNotice order_id={order_id} critical={critical.data} result_version={result_version} />
  return (
    <Notice tone="idle">
      <Acknowledged critical={critical.data} />
      {critical.data.note && (
        <span class="row wrap">
          <span>Who was informed: {critical.data.note}</span>
          <Reveal isRevealed={reason !== null} onReveal={setReason} onMask={() => setReason(null)} />
        </span>
      )}
    </Notice>
  )
}

const Acknowledged = ({ critical: { acknowledged_at, acknowledged_by, acknowledged_version, reviewer } }: { critical: Critical }) => {
  const isKey = acknowledged_by?.type !== 'person'
  const details = [reviewer?.role, reviewer?.reference].filter(Boolean).join(', ')
  return (
    <div>
      Critical result acknowledged <Time at={acknowledged_at ?? ''} isRealTime /> by {reviewer?.name ?? acknowledged_by?.name ?? 'a key'}
      {isKey && details && ` (${details})`}.
      {isKey && ` Sent with: ${humanize(acknowledged_by?.type)} ${shortId(acknowledged_by?.id ?? '')}.`}
      {acknowledged_version && ` Reviewed: report ${acknowledged_version}.`}
    </div>
  )
}

function OpenNotice({ order_id, critical: { reported_at }, result_version }: Partial<Read> & { order_id: string; critical: Critical }) {
  const [read, setRead] = useState<Read>()
  const isPerson = session.get()?.kind === 'person'
  return (
    <Notice tone="bad">
      <span class="row wrap">
        <span>
          Critical result reported <Time at={reported_at} />. Not acknowledged yet.
          {!isPerson && ' Sign in with your own account to acknowledge it.'}
        </span>
        {isPerson && can('critical.acknowledge') && (
          <Button small disabled={!result_version} onClick={() => result_version && setRead({ order_id, result_version })}>
            Acknowledge
          </Button>
        )}
      </span>
      {read && <AcknowledgeDialog read={read} onClose={() => setRead(undefined)} />}
    </Notice>
  )
}

/** Sends the version that the page showed when the dialog opened. */
function AcknowledgeDialog({ read: { order_id, result_version }, onClose }: { read: Read; onClose: () => void }) {
  const [note, setNote] = useState('')
  const acknowledge = async () => {
    const reload = () => refresh('overview', 'order', `results:${order_id}`, `critical:${order_id}`)
    await api.acknowledgeCritical({ params: { order_id }, body: { result_version, note: note.trim() } }).catch((error: ApiError) => {
      if (error.status !== 409) throw error
      reload()
      throw new Error('The lab has sent a newer report. Close this dialog, read the results again, then acknowledge them.')
    })
    onClose()
    reload()
    showToast('Critical result acknowledged.')
  }
  return (
    <FormDialog title="Acknowledge critical result" submit="Acknowledge" disabled={!note.trim()} onClose={onClose} onSubmit={acknowledge}>
      <p>The record shows your name, the time, and that you have read report {result_version}.</p>
      <AreaField
        label="Who was informed?"
        hint="The person, when and how. Stored encrypted with the result."
        value={note}
        maxLength={2000}
        required
        onText={setNote}
      />
    </FormDialog>
  )
}
