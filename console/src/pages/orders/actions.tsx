import { useState } from 'preact/hooks'
import { canBecome, type Method } from '../../../../src/contract/labs/lifecycle.ts'
import { api } from '../../api.ts'
import { refresh } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/forms.tsx'
import { say } from '../../ui/toasts.tsx'
import { lowOf } from '../../words.ts'
import type { Order } from './list.tsx'

export const refreshOrder = (id: string) => refresh(`order:${id}`, `results:${id}`, 'orders', 'overview')

export function CancelOrder({ order }: { order: Order }) {
  const [open, setOpen] = useState(false)
  const close = () => setOpen(false)
  if (!canBecome(order.details.type as Method, lowOf(order.last_event.status), 'cancelled')) return null
  const cancel = async () => {
    await api.cancelOrder({ params: { order_id: order.id } })
    refreshOrder(order.id)
    close()
    say('The order is cancelled.')
  }
  return (
    <>
      <Button kind="danger" onClick={() => setOpen(true)}>
        Cancel order
      </Button>
      {open && (
        <FormDialog title="Cancel this order?" submit="Cancel order" danger onClose={close} onSubmit={cancel}>
          <p>The lab will not process it, and it cannot be taken up again. Place a new order instead.</p>
        </FormDialog>
      )}
    </>
  )
}

/** Only an order that was held at its creation can be held until another day. */
export function RescheduleOrder({ order }: { order: Order }) {
  const [open, setOpen] = useState(false)
  const [until, setUntil] = useState(order.activate_by ?? '')
  const close = () => setOpen(false)
  if (!order.activate_by || !['ordered', 'awaiting_registration'].includes(lowOf(order.last_event.status))) return null
  const reschedule = async () => {
    await api.rescheduleOrder({ params: { order_id: order.id }, body: { activate_by: until || null } })
    refreshOrder(order.id)
    close()
    say(until ? 'The order is held until that day.' : 'The order goes to the lab now.')
  }
  return (
    <>
      <Button onClick={() => setOpen(true)}>Reschedule</Button>
      {open && (
        <FormDialog
          title="When should it go to the lab?"
          submit={until ? 'Hold until then' : 'Send now'}
          onClose={close}
          onSubmit={reschedule}
        >
          <TextField label="Held until" type="date" hint="Leave it empty to send the order now." value={until} onText={setUntil} />
        </FormDialog>
      )}
    </>
  )
}
