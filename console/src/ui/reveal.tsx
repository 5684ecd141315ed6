import { useState } from 'preact/hooks'
import { can } from '../session.ts'
import { Button } from './basics.tsx'
import { FormDialog } from './dialog.tsx'
import { SelectField, TextField } from './forms.tsx'
import { Icon } from './icons.tsx'

const reasons = ['Support request', 'Result follow-up', 'Shipping problem', 'Data correction', 'Integration test']

/** The audit log records the reason. Leaving the page masks the data again. */
export function Reveal({ isRevealed, onReveal, onMask }: { isRevealed: boolean; onReveal: (reason: string) => void; onMask: () => void }) {
  const [isOpen, setIsOpen] = useState(false)
  if (isRevealed)
    return (
      <Button small onClick={onMask}>
        Mask
      </Button>
    )
  if (!can('personal.reveal')) return null
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        <Icon name="eye" /> Reveal
      </Button>
      {isOpen && (
        <RevealDialog
          onClose={() => setIsOpen(false)}
          onReason={(reason) => {
            setIsOpen(false)
            onReveal(reason)
          }}
        />
      )}
    </>
  )
}

export function RevealDialog({ onClose, onReason }: { onClose: () => void; onReason: (reason: string) => void }) {
  const [choice, setChoice] = useState(reasons[0] as string)
  const [note, setNote] = useState('')
  return (
    <FormDialog
      title="Reveal personal data"
      submit="Reveal"
      onClose={onClose}
      onSubmit={async () => onReason([choice, note.trim()].filter(Boolean).join(': '))}
    >
      <p class="muted">The audit log records who revealed the data, when and why.</p>
      <SelectField label="Reason" value={choice} options={reasons.map((reason) => [reason, reason])} onSelect={setChoice} />
      <TextField
        label="Reference"
        hint="For example, a ticket number. Do not enter personal data."
        value={note}
        maxLength={120}
        onText={setNote}
      />
    </FormDialog>
  )
}

/** The reason is URL-encoded because a header value is limited to Latin-1. */
export const revealHeaders = (reason: string | null) => (reason ? { headers: { 'x-assay-reveal': encodeURIComponent(reason) } } : {})
