import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { go, setSearch } from '../../router.tsx'
import { teamPath } from '../../session.ts'
import { Button, Doing } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { AreaField, SelectField, TextField } from '../../ui/forms.tsx'
import { say } from '../../ui/toasts.tsx'
import type { Webhook } from './list.tsx'

export function SwitchWebhook({ webhook: { id, disabled } }: { webhook: Webhook }) {
  const turn = async () => {
    await api.patchWebhook({ params: { ...teamPath(), webhook_id: id }, body: { disabled: !disabled } })
    refresh('webhook')
    say(disabled ? 'Enabled; what waited is sent now.' : 'Disabled; what happens waits for it.')
  }
  return <Doing act={turn}>{disabled ? 'Enable' : 'Disable'}</Doing>
}

export function SendExample({ webhook: { id } }: { webhook: Webhook }) {
  const [open, setOpen] = useState(false)
  const [type, setType] = useState('labtest.order.updated')
  const types = useQuery(open ? 'event-types' : null, () => api.listEventTypes())
  const send = async () => {
    const attempt = await api.sendWebhookExample({ params: { ...teamPath(), webhook_id: id }, body: { event_type: type } })
    refresh('attempts:')
    setOpen(false)
    go(`/webhooks/${id}/attempts/${attempt.id}`)
  }
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Send an example
      </Button>
      {open && (
        <FormDialog title="Send an example" submit="Send" onClose={() => setOpen(false)} onSubmit={send}>
          <p class="muted">
            One signed message about fictitious people, whatever the filter says. It is never tried again and says nothing about the health
            of the webhook.
          </p>
          <SelectField
            label="Event type"
            value={type}
            options={(types.data?.event_types ?? [{ type }]).map(({ type }) => [type, type])}
            onChoose={setType}
          />
        </FormDialog>
      )}
    </>
  )
}

const local = (at: number) => {
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}

const HOUR = 3_600_000

/** Sends a window of the log, or only what failed for good; both become a job that goes on without the page. */
export function ReplayButton({ webhook: { id } }: { webhook: Webhook }) {
  const [open, setOpen] = useState(false)
  const [kind, setKind] = useState('replay')
  const [from, setFrom] = useState(() => local(Date.now() - 24 * HOUR))
  const [to, setTo] = useState('')
  const [types, setTypes] = useState('')
  const start = async () => {
    const params = { ...teamPath(), webhook_id: id }
    const since = new Date(from).toISOString()
    const until = to ? new Date(to).toISOString() : undefined
    const event_types = types.split(/[\s,]+/).filter(Boolean)
    if (kind === 'recover') await api.recoverWebhook({ params, body: { since, until } })
    else await api.replayWebhook({ params, body: { from: since, to: until, ...(event_types.length ? { event_types } : {}) } })
    refresh('jobs:')
    setOpen(false)
    setSearch({ tab: 'jobs' })
  }
  return (
    <>
      <Button onClick={() => setOpen(true)}>Replay</Button>
      {open && (
        <FormDialog title="Send again" submit="Start" onClose={() => setOpen(false)} onSubmit={start}>
          <SelectField
            label="What"
            value={kind}
            options={[
              ['replay', 'Every event of the window'],
              ['recover', 'Only what failed for the last time'],
            ]}
            onChoose={setKind}
          />
          <div class="form-grid">
            <TextField label="From" type="datetime-local" required value={from} onText={setFrom} />
            <TextField label="Until" type="datetime-local" hint="Empty: now." value={to} onText={setTo} />
          </div>
          {kind === 'replay' && <AreaField label="Event types" hint="Empty: all that the webhook takes." value={types} onText={setTypes} />}
        </FormDialog>
      )}
    </>
  )
}
