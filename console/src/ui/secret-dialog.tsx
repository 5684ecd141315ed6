import { Button, CopyButton, Notice } from './basics.tsx'
import { Dialog } from './dialog.tsx'

type SecretDialogProps = { title: string; secret: string; what: string; note?: string; onClose: () => void }

const HASHED_NOTE = 'Copy it now. Assay stores only a hash and cannot show it again.'

export const SecretDialog = ({ title, secret, what, note = HASHED_NOTE, onClose }: SecretDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <Notice tone="warn">{note}</Notice>
    <div class="secret">
      <code class="grow">{secret}</code>
      <CopyButton text={secret} what={what} />
    </div>
    <div class="actions">
      <Button kind="primary" onClick={onClose}>
        Done
      </Button>
    </div>
  </Dialog>
)
