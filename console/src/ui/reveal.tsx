import { useState } from 'preact/hooks'
import { can } from '../session.ts'
import { Button } from './basics.tsx'
import { FormDialog } from './dialog.tsx'
import { SelectField, TextField } from './forms.tsx'
import { Icon } from './icons.tsx'

const reasons = ['Support request', 'Result follow-up', 'Shipping problem', 'Data correction', 'Integration test']

/** Personal data is shown for a reason, which the audit log keeps; leaving the page masks it again. */
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
      <p class="muted">Who looked, when and why is written into the audit log.</p>
      <SelectField label="Reason" value={choice} options={reasons.map((reason) => [reason, reason])} onSelect={setChoice} />
      <TextField
        label="Reference"
        hint="A ticket number, for example; never something about the person."
        value={note}
        maxLength={120}
        onText={setNote}
      />
    </FormDialog>
  )
}

/** The header that asks for it; encoded, since a header takes few letters. */
export const revealHeaders = (reason: string | null) => (reason ? { headers: { 'x-assay-reveal': encodeURIComponent(reason) } } : {})
