import { setTimeout as pause } from 'node:timers/promises'
import { setupProblem } from '../platform/problem.ts'
import { textOf } from './failure.ts'
import type { Service } from './service.ts'
import { readBlocks } from './sse.ts'

export type Envelope = { event_id: string; event_type: string; user_id: string | null; created_at: string; data: unknown }
export type StreamedEvent = { envelope: Envelope; text: string; cursor: string | undefined }
type Filters = { after: string; types?: string | undefined; user_id?: string | undefined; order_id?: string | undefined }

/** Yields events as they happen and reconnects after an interruption, without losing an event. */
export async function* eventsOf(service: Service, filters: Filters): AsyncGenerator<StreamedEvent> {
  for (let after = filters.after; ; await pause(1000)) {
    const body = await openStream(service, { ...filters, after })
    if (!body) continue
    try {
      for await (const { id, data } of readBlocks(body)) {
        if (data) yield { envelope: JSON.parse(data) as Envelope, text: data, cursor: id }
        if (id) after = id
      }
    } catch {
      console.error('Connection lost. Reconnecting.')
    }
  }
}

async function openStream({ base, key }: Service, { after, types, user_id, order_id }: Filters) {
  const from = after === 'start' ? {} : { after }
  const query = new URLSearchParams({ ...from, ...(user_id ? { user_id } : {}), ...(order_id ? { order_id } : {}) })
  for (const type of (types ?? '').split(',').filter(Boolean)) query.append('event_type', type)
  const response = await fetch(`${base}/events/stream?${query}`, { headers: { 'x-service-api-key': key } }).catch(() => undefined)
  if (response && response.status >= 400 && response.status < 500) throw await streamRejection(response)
  if (!response?.ok) console.error(`${base} does not respond. Retrying.`)
  return response?.ok ? response.body : undefined
}

async function streamRejection(response: Response) {
  const { detail } = (await response.json().catch(() => ({}))) as { detail?: { error_type?: string } }
  return setupProblem(`The service rejected the stream: ${textOf(detail)}`, detail?.error_type ?? 'REFUSED')
}
