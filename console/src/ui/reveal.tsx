import { useState } from 'preact/hooks'
import { may } from '../session.ts'
import { Button } from './basics.tsx'
import { FormDialog } from './dialog.tsx'
import { SelectField, TextField } from './forms.tsx'
import { Icon } from './icons.tsx'

const reasons = ['Support request', 'Result follow-up', 'Shipping problem', 'Data correction', 'Integration test']

/** Personal data is shown for a reason, which the audit log keeps; leaving the page masks it again. */
export function Reveal({ revealed, onReveal, onMask }: { revealed: boolean; onReveal: (reason: string) => void; onMask: () => void }) {
  const [open, setOpen] = useState(false)
  if (revealed)
    return (
      <Button small onClick={onMask}>
        Mask
      </Button>
    )
  if (!may('personal.reveal')) return null
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        <Icon name="eye" /> Reveal
      </Button>
      {open && (
        <AskReason
          onClose={() => setOpen(false)}
          onReason={(reason) => {
            setOpen(false)
            onReveal(reason)
          }}
        />
      )}
    </>
  )
}

export function AskReason({ onClose, onReason }: { onClose: () => void; onReason: (reason: string) => void }) {
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
      <SelectField label="Reason" value={choice} options={reasons.map((one) => [one, one])} onChoose={setChoice} />
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
export const revealing = (reason: string | null) => (reason ? { headers: { 'x-assay-reveal': encodeURIComponent(reason) } } : {})
