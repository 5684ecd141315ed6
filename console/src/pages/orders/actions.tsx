import { useState } from 'preact/hooks'
import { canBecome, type Method } from '../../../../src/contract/labs/lifecycle.ts'
import { api } from '../../api.ts'
import { lowLevelOf } from '../../format.ts'
import { refresh } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/forms.tsx'
import { showToast } from '../../ui/toasts.tsx'
import type { Order } from './list.tsx'

export const refreshOrder = (id: string) => refresh(`order:${id}`, `results:${id}`, 'orders', 'overview')

export function CancelOrder({ order }: { order: Order }) {
  const [isOpen, setIsOpen] = useState(false)
  const close = () => setIsOpen(false)
  if (!canBecome(order.details.type as Method, lowLevelOf(order.last_event.status), 'cancelled')) return null
  const cancel = async () => {
    await api.cancelOrder({ params: { order_id: order.id } })
    refreshOrder(order.id)
    close()
    showToast('Order canceled.')
  }
  return (
    <>
      <Button kind="danger" onClick={() => setIsOpen(true)}>
        Cancel order
      </Button>
      {isOpen && (
        <FormDialog title="Cancel this order?" submit="Cancel order" danger onClose={close} onSubmit={cancel}>
          <p>The lab will not process this order. You cannot undo this.</p>
        </FormDialog>
      )}
    </>
  )
}

/** Only an order created with `activate_by` can be rescheduled. */
export function RescheduleOrder({ order }: { order: Order }) {
  const [isOpen, setIsOpen] = useState(false)
  const [holdUntil, setHoldUntil] = useState(order.activate_by ?? '')
  const close = () => setIsOpen(false)
  if (!order.activate_by || !['ordered', 'awaiting_registration'].includes(lowLevelOf(order.last_event.status))) return null
  const reschedule = async () => {
    await api.rescheduleOrder({ params: { order_id: order.id }, body: { activate_by: holdUntil || null } })
    refreshOrder(order.id)
    close()
    showToast(holdUntil ? 'Order rescheduled.' : 'Order sent to the lab.')
  }
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Reschedule</Button>
      {isOpen && (
        <FormDialog
          title="Reschedule order"
          submit={holdUntil ? 'Reschedule order' : 'Send order now'}
          onClose={close}
          onSubmit={reschedule}
        >
          <TextField
            label="Hold until"
            type="date"
            hint="Leave empty to send the order to the lab now."
            value={holdUntil}
            onText={setHoldUntil}
          />
        </FormDialog>
      )}
    </>
  )
}
