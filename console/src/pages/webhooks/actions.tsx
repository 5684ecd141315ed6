import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { navigate, setSearchParams } from '../../router.tsx'
import { teamParams } from '../../session.ts'
import { AsyncButton, Button } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { AreaField, SelectField, TextField } from '../../ui/forms.tsx'
import { showToast } from '../../ui/toasts.tsx'
import type { Webhook } from './list.tsx'

export function ToggleWebhook({ webhook: { id, disabled } }: { webhook: Webhook }) {
  const toggle = async () => {
    await api.patchWebhook({ params: { ...teamParams(), webhook_id: id }, body: { disabled: !disabled } })
    refresh('webhook')
    showToast(disabled ? 'Webhook enabled. Pending messages are sent now.' : 'Webhook disabled. New messages stay pending.')
  }
  return <AsyncButton action={toggle}>{disabled ? 'Enable' : 'Disable'}</AsyncButton>
}

export function SendExample({ webhook: { id } }: { webhook: Webhook }) {
  const [isOpen, setIsOpen] = useState(false)
  const [type, setType] = useState('labtest.order.updated')
  const types = useQuery(isOpen ? 'event-types' : null, () => api.listEventTypes())
  const send = async () => {
    const attempt = await api.sendWebhookExample({ params: { ...teamParams(), webhook_id: id }, body: { event_type: type } })
    refresh('attempts:')
    setIsOpen(false)
    navigate(`/webhooks/${id}/attempts/${attempt.id}`)
  }
  return (
    <>
      <Button kind="primary" onClick={() => setIsOpen(true)}>
        Send example
      </Button>
      {isOpen && (
        <FormDialog title="Send example" submit="Send example" onClose={() => setIsOpen(false)} onSubmit={send}>
          <p class="muted">
            Sends one signed message with fictitious data, regardless of the webhook's filter. Assay does not retry it, and it does not
            affect the webhook's health.
          </p>
          <SelectField
            label="Event type"
            value={type}
            options={(types.data?.event_types ?? [{ type }]).map(({ type }) => [type, type])}
            onSelect={setType}
          />
        </FormDialog>
      )}
    </>
  )
}

const toLocalInput = (at: number) => {
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}

const HOUR_MS = 3_600_000

/** Starts a background job that keeps running when the page is closed. */
export function ReplayButton({ webhook: { id } }: { webhook: Webhook }) {
  const [isOpen, setIsOpen] = useState(false)
  const [kind, setKind] = useState('replay')
  const [from, setFrom] = useState(() => toLocalInput(Date.now() - 24 * HOUR_MS))
  const [to, setTo] = useState('')
  const [types, setTypes] = useState('')
  const start = async () => {
    const params = { ...teamParams(), webhook_id: id }
    const since = new Date(from).toISOString()
    const until = to ? new Date(to).toISOString() : undefined
    const event_types = types.split(/[\s,]+/).filter(Boolean)
    if (kind === 'recover') await api.recoverWebhook({ params, body: { since, until } })
    else await api.replayWebhook({ params, body: { from: since, to: until, ...(event_types.length ? { event_types } : {}) } })
    refresh('jobs:')
    setIsOpen(false)
    setSearchParams({ tab: 'jobs' })
  }
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Replay</Button>
      {isOpen && (
        <FormDialog title="Replay events" submit="Start replay" onClose={() => setIsOpen(false)} onSubmit={start}>
          <SelectField
            label="Events"
            value={kind}
            options={[
              ['replay', 'All events in the time range'],
              ['recover', 'Only messages that exhausted their retries'],
            ]}
            onSelect={setKind}
          />
          <div class="form-grid">
            <TextField label="From" type="datetime-local" required value={from} onText={setFrom} />
            <TextField label="To" type="datetime-local" hint="Leave empty for now." value={to} onText={setTo} />
          </div>
          {kind === 'replay' && (
            <AreaField label="Event types" hint="Leave empty for all events that the webhook accepts." value={types} onText={setTypes} />
          )}
        </FormDialog>
      )}
    </>
  )
}
