import { Button, Copy, Notice } from './basics.tsx'
import { Dialog } from './dialog.tsx'

/** A secret that the service keeps only as a hash: now is the only time to copy it. */
export const ShownOnce = ({ title, secret, what, onClose }: { title: string; secret: string; what: string; onClose: () => void }) => (
  <Dialog title={title} onClose={onClose}>
    <Notice tone="warn">Copy it now. It is stored as a hash and cannot be shown again.</Notice>
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
