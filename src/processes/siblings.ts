import type { Siblings } from '../http/connections/siblings.ts'
import { collectInSlices } from '../http/metrics/collect.ts'
import type { Order, Report } from './messages.ts'

/** Reaches the other processes of the service through the supervisor. */
export function openSiblings(send: (report: Report) => void): Siblings {
  const waiting = new Map<number, (result: unknown) => void>()
  let lastId = 0
  const ask = <T>(question: (id: number) => Report) =>
    new Promise<T>((resolve) => {
      const id = ++lastId
      waiting.set(id, resolve as (result: unknown) => void)
      send(question(id))
    })
  const answer = (id: number, result: unknown) => {
    waiting.get(id)?.(result)
    waiting.delete(id)
  }
  process.on('message', (order: Order) => {
    if (order.type === 'collected metrics') answer(order.id, order.metrics)
    if (order.type === 'opened stream') answer(order.id, order.isOpen)
  })
  return {
    collectMetrics: () => ask((id) => ({ type: 'collect metrics', id })),
    shareMetrics({ registry }) {
      process.on('message', async (order: Order) => {
        if (order.type === 'collect metrics') send({ type: 'metrics', id: order.id, metrics: await collectInSlices(registry) })
      })
    },
    openStream: (team, limit) => ask((id) => ({ type: 'open stream', id, team, limit })),
    closeStream: (team) => send({ type: 'close stream', team }),
  }
}
