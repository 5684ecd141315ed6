import { useEffect } from 'preact/hooks'
import { inBackground, selectedTeam, sendRequest } from './api.ts'
import { observable, useObservable } from './observable.ts'

export type TeamEvent = {
  event_id: string
  created_at: string
  event_type: string
  user_id: string | null
  data: { id?: string; order_id?: string }
}

const listeners = new Set<(event: TeamEvent) => void>()
export const isLive = observable(false)
const RECONNECT_MS = 5_000
/** The server rejects a team with too many open streams, and it audits each rejection. */
const RATE_LIMITED_RECONNECT_MS = 60_000

/** Calls `onEvent` for each new event of the team. All listeners share one stream. */
export function useEvents(onEvent: (event: TeamEvent) => void) {
  useEffect(() => {
    listeners.add(onEvent)
    return () => {
      listeners.delete(onEvent)
    }
  }, [onEvent])
}

export function useEventStream() {
  const team = useObservable(selectedTeam)
  useEffect(() => {
    if (!team) return
    const controller = new AbortController()
    void keepStreamOpen(controller.signal)
    return () => controller.abort()
  }, [team])
}

async function keepStreamOpen(signal: AbortSignal) {
  let lastEventId: string | undefined
  while (!signal.aborted) {
    const headers: Record<string, string> = lastEventId ? { 'last-event-id': lastEventId } : {}
    const response = await inBackground(() => sendRequest('streamEvents', { signal, query: { after: 'end' }, headers })).catch(
      () => undefined,
    )
    if (response?.ok && response.body) {
      isLive.set(true)
      lastEventId = (await readStream(response.body).catch(() => undefined)) ?? lastEventId
    }
    isLive.set(false)
    if (response && [401, 403].includes(response.status)) return
    const delayMs = response?.status === 429 ? RATE_LIMITED_RECONNECT_MS : RECONNECT_MS
    if (!signal.aborted) await new Promise((done) => setTimeout(done, delayMs))
  }
}

async function readStream(body: ReadableStream<Uint8Array>) {
  let buffer = ''
  const decoder = new TextDecoder()
  let lastEventId: string | undefined
  const reader = body.getReader()
  for (;;) {
    const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }))
    if (done) return lastEventId
    const blocks = (buffer + decoder.decode(value, { stream: true })).split('\n\n')
    buffer = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n')
      lastEventId =
        lines
          .find((line) => line.startsWith('id:'))
          ?.slice(3)
          .trim() ?? lastEventId
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5))
      if (data.length) notifyListeners(JSON.parse(data.join('\n')))
    }
  }
}

const notifyListeners = (event: TeamEvent) => {
  for (const onEvent of listeners) inBackground(() => onEvent(event))
}
