import { Button, Copy, Notice } from './basics.tsx'
import { Dialog } from './dialog.tsx'

type Props = { title: string; secret: string; what: string; note?: string; onClose: () => void }

const HASHED = 'Copy it now. It is stored as a hash and cannot be shown again.'

/** A secret that is shown once: now is the only time to copy it. */
export const ShownOnce = ({ title, secret, what, note = HASHED, onClose }: Props) => (
  <Dialog title={title} onClose={onClose}>
    <Notice tone="warn">{note}</Notice>
    <div class="secret">
      <code class="grow">{secret}</code>
      <Copy text={secret} what={what} />
    </div>
    <div class="actions">
      <Button kind="primary" onClick={onClose}>
        I have copied it
      </Button>
    </div>
  </Dialog>
)
