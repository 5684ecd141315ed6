import { useState } from 'preact/hooks'
import { api, type Failure } from '../../api.ts'
import { refresh } from '../../query.ts'
import { go } from '../../router.tsx'
import { may, teamPath } from '../../session.ts'
import { Button, Card, Copy, Doing, Notice } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { say } from '../../ui/toasts.tsx'
import { fieldsOf, sentFields, WebhookFields } from './fields.tsx'
import type { Webhook } from './list.tsx'

export const WebhookSettings = ({ webhook }: { webhook: Webhook }) => (
  <div class="halves">
    <Change webhook={webhook} />
    <div class="stack">
      <Secret webhook={webhook} />
      {may('team.manage') && <Remove webhook={webhook} />}
    </div>
  </div>
)

function Change({ webhook }: { webhook: Webhook }) {
  const [fields, setFields] = useState(() => fieldsOf(webhook))
  const [error, setError] = useState<Failure>()
  const save = async () => {
    setError(undefined)
    await api.patchWebhook({ params: { ...teamPath(), webhook_id: webhook.id }, body: sentFields(fields) }).then(() => {
      refresh('webhook')
      say('Saved.')
    }, setError)
  }
  return (
    <Card title="Settings">
      <div class="stack">
        <WebhookFields fields={fields} onChange={setFields} error={error} />
        {error && <Notice tone="bad">{error.message}</Notice>}
        <div class="row">
          <Doing kind="primary" act={save} disabled={!may('team.manage')}>
            Save
          </Doing>
        </div>
      </div>
    </Card>
  )
}

/** The secret is fetched when it is asked for and forgotten with the page. */
function Secret({ webhook: { id, public_key } }: { webhook: Webhook }) {
  const [secret, setSecret] = useState<string>()
  const [asks, setAsks] = useState(false)
  const params = { ...teamPath(), webhook_id: id }
  const rotate = async () => {
    await api.rotateWebhookSecret({ params, body: {} })
    setAsks(false)
    setSecret((await api.getWebhookSecret({ params })).key)
    say('The secret changed; the old one signs along for 24 hours.')
  }
  return (
    <Card title="Signing secret">
      <div class="stack">
        <p class="muted">Receivers verify the signature with it. Any Standard Webhooks library does.</p>
        {secret && (
          <div class="secret">
            <code class="grow">{secret}</code>
            <Copy text={secret} what="secret" />
          </div>
        )}
        {may('team.manage') && (
          <div class="row wrap">
            {!secret && <Doing act={async () => setSecret((await api.getWebhookSecret({ params })).key)}>Show secret</Doing>}
            <Button onClick={() => setAsks(true)}>Rotate secret</Button>
          </div>
        )}
        {public_key && (
          <div class="secret">
            <code class="grow">{public_key}</code>
            <Copy text={public_key} what="public key" />
          </div>
        )}
      </div>
      {asks && (
        <FormDialog title="Rotate the secret?" submit="Rotate" onClose={() => setAsks(false)} onSubmit={rotate}>
          <p>
            Messages are signed with the new secret and, for 24 hours, with the old one too, so receivers can change over without a gap.
          </p>
        </FormDialog>
      )}
    </Card>
  )
}

function Remove({ webhook: { id } }: { webhook: Webhook }) {
  const [asks, setAsks] = useState(false)
  const remove = async () => {
    await api.deleteWebhook({ params: { ...teamPath(), webhook_id: id } })
    refresh('webhook')
    say('The webhook is deleted.')
    go('/webhooks')
  }
  return (
    <Card title="Delete">
      <div class="stack">
        <p class="muted">Everything that waits for it goes with it. To pause it, disable it instead.</p>
        <div>
          <Button kind="danger" onClick={() => setAsks(true)}>
            Delete webhook
          </Button>
        </div>
      </div>
      {asks && (
        <FormDialog title="Delete this webhook?" submit="Delete" danger onClose={() => setAsks(false)} onSubmit={remove}>
          <p>What waits for it will not be sent. The event log keeps the events.</p>
        </FormDialog>
      )}
    </Card>
  )
}
