import type { WebhookRef } from '../../../platform/webhook-ref.ts'
import { type DeliveryContext, deliverDue } from './deliver.ts'

type PumpOptions = {
  context: DeliveryContext
  /** Whether this worker may claim lanes. */
  isHeld(): boolean
  onError(error: unknown): void
}

/** Claims and sends the lanes of the webhooks that it is woken for. */
export function newPump({ context, isHeld, onError }: PumpOptions) {
  const due = new Set<WebhookRef>()
  let stopping = false
  let pumping: Promise<void> | undefined
  let pumpAgain = false

  /** Stops while the capacity is used up. Settling a lane wakes its webhook again. */
  async function pump() {
    while (due.size && isHeld() && !stopping) {
      const refs = [...due]
      due.clear()
      const { waiting, isFull } = await deliverDue(context, refs)
      for (const ref of waiting) due.add(ref)
      if (isFull) return
    }
  }

  function wake(refs: Iterable<WebhookRef>) {
    for (const ref of refs) due.add(ref)
    if (pumping) pumpAgain = true
    if (pumping || stopping || !isHeld() || !due.size) return
    pumping = pump()
      .catch(onError)
      .finally(() => {
        pumping = undefined
        if (!pumpAgain) return
        pumpAgain = false
        wake([])
      })
  }

  return {
    wake,
    async stop() {
      stopping = true
      await pumping
    },
  }
}
