import { Button, CopyButton, Notice } from './basics.tsx'
import { Dialog } from './dialog.tsx'

type SecretDialogProps = { title: string; secret: string; what: string; note?: string; onClose: () => void }

const HASHED_NOTE = 'Copy it now. It is stored as a hash and cannot be shown again.'

/** A secret that is shown once: now is the only time to copy it. */
export const SecretDialog = ({ title, secret, what, note = HASHED_NOTE, onClose }: SecretDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <Notice tone="warn">{note}</Notice>
    <div class="secret">
      <code class="grow">{secret}</code>
      <CopyButton text={secret} what={what} />
    </div>
    <div class="actions">
      <Button kind="primary" onClick={onClose}>
        I have copied it
      </Button>
    </div>
  </Dialog>
)
