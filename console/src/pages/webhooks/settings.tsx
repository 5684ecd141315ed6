import { useState } from 'preact/hooks'
import { type ApiError, api } from '../../api.ts'
import { refresh } from '../../query.ts'
import { navigate } from '../../router.tsx'
import { can, teamParams } from '../../session.ts'
import { AsyncButton, Button, Card, CopyButton, Notice } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { fieldsOf, fieldsToBody, WebhookFields } from './fields.tsx'
import type { Webhook } from './list.tsx'

export const WebhookSettings = ({ webhook }: { webhook: Webhook }) => (
  <div class="halves">
    <SettingsForm webhook={webhook} />
    <div class="stack">
      <SigningSecret webhook={webhook} />
      {can('team.manage') && <DeleteWebhook webhook={webhook} />}
    </div>
  </div>
)

function SettingsForm({ webhook }: { webhook: Webhook }) {
  const [fields, setFields] = useState(() => fieldsOf(webhook))
  const [error, setError] = useState<ApiError>()
  const save = async () => {
    setError(undefined)
    await api.patchWebhook({ params: { ...teamParams(), webhook_id: webhook.id }, body: fieldsToBody(fields) }).then(() => {
      refresh('webhook')
      showToast('Webhook saved.')
    }, setError)
  }
  return (
    <Card title="Settings">
      <div class="stack">
        <WebhookFields fields={fields} onChange={setFields} error={error} />
        {error && <Notice tone="bad">{error.message}</Notice>}
        <div class="row">
          <AsyncButton kind="primary" action={save} disabled={!can('team.manage')}>
            Save
          </AsyncButton>
        </div>
      </div>
    </Card>
  )
}

/** Loads the secret only on request and keeps it in this page only. */
function SigningSecret({ webhook: { id, public_key } }: { webhook: Webhook }) {
  const [secret, setSecret] = useState<string>()
  const [isConfirming, setIsConfirming] = useState(false)
  const params = { ...teamParams(), webhook_id: id }
  const rotate = async () => {
    await api.rotateWebhookSecret({ params, body: {} })
    setIsConfirming(false)
    setSecret((await api.getWebhookSecret({ params })).key)
    showToast('Secret rotated. The old secret also signs messages for 24 hours.')
  }
  return (
    <Card title="Signing secret">
      <div class="stack">
        <p class="muted">Verify message signatures with this secret. Any Standard Webhooks library works.</p>
        {secret && (
          <div class="secret">
            <code class="grow">{secret}</code>
            <CopyButton text={secret} what="secret" />
          </div>
        )}
        {can('team.manage') && (
          <div class="row wrap">
            {!secret && <AsyncButton action={async () => setSecret((await api.getWebhookSecret({ params })).key)}>Show secret</AsyncButton>}
            <Button onClick={() => setIsConfirming(true)}>Rotate secret</Button>
          </div>
        )}
        {public_key && (
          <div class="secret">
            <code class="grow">{public_key}</code>
            <CopyButton text={public_key} what="public key" />
          </div>
        )}
      </div>
      {isConfirming && (
        <FormDialog title="Rotate the signing secret?" submit="Rotate secret" onClose={() => setIsConfirming(false)} onSubmit={rotate}>
          <p>For 24 hours, both the new and the old secret sign each message, so you can update your receiver without downtime.</p>
        </FormDialog>
      )}
    </Card>
  )
}

function DeleteWebhook({ webhook: { id } }: { webhook: Webhook }) {
  const [isConfirming, setIsConfirming] = useState(false)
  const remove = async () => {
    await api.deleteWebhook({ params: { ...teamParams(), webhook_id: id } })
    refresh('webhook')
    showToast('Webhook deleted.')
    navigate('/webhooks')
  }
  return (
    <Card title="Delete webhook">
      <div class="stack">
        <p class="muted">Deleting a webhook discards its pending messages. To pause delivery, disable the webhook instead.</p>
        <div>
          <Button kind="danger" onClick={() => setIsConfirming(true)}>
            Delete webhook
          </Button>
        </div>
      </div>
      {isConfirming && (
        <FormDialog title="Delete this webhook?" submit="Delete webhook" danger onClose={() => setIsConfirming(false)} onSubmit={remove}>
          <p>Pending messages are discarded. The events stay in the log.</p>
        </FormDialog>
      )}
    </Card>
  )
}
